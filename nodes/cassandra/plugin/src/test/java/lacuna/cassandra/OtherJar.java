package lacuna.cassandra;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;

import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** The plug-in's jar as if it had been compiled against another Cassandra: one of its classes calls a method that is not there. */
final class OtherJar
{
    /** Beside {@link Region}, which every answer from memory needs. */
    private static final String CALLER = "lacuna/cassandra/Region$Caller";
    private static final String CALLED = "org/apache/cassandra/db/rows/BTreeRow";

    private OtherJar() {}

    static Path in(Path folder) throws IOException
    {
        Path jar = Files.createDirectories(folder).resolve("lacuna-cassandra-other.jar");
        Files.copy(Path.of(System.getProperty("lacuna.jar")), jar);
        try (FileSystem inside = FileSystems.newFileSystem(jar))
        {
            Files.write(inside.getPath(CALLER + ".class"), caller());
        }
        return jar;
    }

    private static byte[] caller()
    {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(Opcodes.V17, Opcodes.ACC_FINAL, CALLER, null, "java/lang/Object", null);
        MethodVisitor method = writer.visitMethod(Opcodes.ACC_STATIC, "call", "()V", null, null);
        method.visitCode();
        method.visitMethodInsn(Opcodes.INVOKESTATIC, CALLED, "gone", "()V", false);
        method.visitInsn(Opcodes.RETURN);
        method.visitMaxs(0, 0);
        method.visitEnd();
        writer.visitEnd();
        return writer.toByteArray();
    }
}

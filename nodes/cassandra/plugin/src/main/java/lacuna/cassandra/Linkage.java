package lacuna.cassandra;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Whether this Cassandra has every method, constructor and field that our classes were compiled against, with the same types. The
 * virtual machine would notice a missing one only when it is called, in the middle of a request.
 */
class Linkage
{
    private static final String THEIRS = "org/apache/cassandra/";
    private static final String OURS = "lacuna/cassandra";

    /** Looks through our classes whose name, without that of an inner one, is chosen; throws with the first thing that is not there. */
    void check(Predicate<String> isChosen) throws IOException, ReflectiveOperationException
    {
        List<Reference> used = new ArrayList<>();
        for (byte[] compiled : classes(isChosen))
            new ClassReader(compiled).accept(new Reader(used), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        for (Reference reference : used.stream().distinct().collect(Collectors.toList()))
            if (!isThere(reference))
                throw new NoSuchMethodException(reference.owner.replace('/', '.') + "." + reference.name + " " + reference.descriptor);
    }

    private static List<byte[]> classes(Predicate<String> isChosen) throws IOException
    {
        Path place = place();
        if (Files.isDirectory(place))
            return classes(place.resolve(OURS), isChosen);
        try (FileSystem jar = FileSystems.newFileSystem(place, (ClassLoader) null))
        {
            return classes(jar.getPath(OURS), isChosen);
        }
    }

    private static Path place() throws IOException
    {
        try
        {
            return Path.of(Linkage.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        }
        catch (URISyntaxException notAFile)
        {
            throw new IOException(notAFile);
        }
    }

    private static List<byte[]> classes(Path folder, Predicate<String> isChosen) throws IOException
    {
        List<byte[]> classes = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder))
        {
            for (Path file : files.collect(Collectors.toList()))
            {
                String name = file.getFileName().toString();
                if (name.endsWith(".class") && isChosen.test(name.replaceFirst("(\\$.*)?\\.class$", "")))
                    classes.add(Files.readAllBytes(file));
            }
        }
        return classes;
    }

    boolean isThere(Reference reference) throws ClassNotFoundException
    {
        Class<?> owner = Class.forName(reference.owner.replace('/', '.'), false, Linkage.class.getClassLoader());
        return !reference.isMember() || isThere(owner, reference);
    }

    private static boolean isThere(Class<?> type, Reference reference)
    {
        if (type == null)
            return false;
        return isDeclared(type, reference) || isThere(type.getSuperclass(), reference)
               || Stream.of(type.getInterfaces()).anyMatch(parent -> isThere(parent, reference))
               // Interfaces have the methods of every object.
               || type.isInterface() && isDeclared(Object.class, reference);
    }

    private static boolean isDeclared(Class<?> type, Reference reference)
    {
        try
        {
            if (!reference.descriptor.startsWith("("))
                return Stream.of(type.getDeclaredFields()).anyMatch(reference::isField);
            Executable[] all = reference.name.equals("<init>") ? type.getDeclaredConstructors() : type.getDeclaredMethods();
            return Stream.of(all).anyMatch(reference::isExecutable);
        }
        catch (LinkageError cannotBeLookedInto)
        {
            // Of something that this class has and we do not use, as far as is known.
            return true;
        }
    }

    /** To a member of a class, or to a class. */
    static final class Reference
    {
        final String owner;
        final String name;
        final String descriptor;

        Reference(String owner, String name, String descriptor)
        {
            this.owner = owner;
            this.name = name;
            this.descriptor = descriptor;
        }

        static Reference toClass(String owner)
        {
            return new Reference(owner, "", "");
        }

        boolean isMember()
        {
            return !name.isEmpty();
        }

        boolean isField(Field field)
        {
            return field.getName().equals(name) && Type.getDescriptor(field.getType()).equals(descriptor);
        }

        boolean isExecutable(Executable executable)
        {
            return executable instanceof Constructor ? Type.getConstructorDescriptor((Constructor<?>) executable).equals(descriptor)
                   : executable.getName().equals(name) && Type.getMethodDescriptor((Method) executable).equals(descriptor);
        }

        @Override
        public boolean equals(Object object)
        {
            if (!(object instanceof Reference))
                return false;
            Reference other = (Reference) object;
            return owner.equals(other.owner) && name.equals(other.name) && descriptor.equals(other.descriptor);
        }

        @Override
        public int hashCode()
        {
            return Objects.hash(owner, name, descriptor);
        }
    }

    /** Collects what a class uses of Cassandra. */
    private static final class Reader extends ClassVisitor
    {
        private final List<Reference> used;

        Reader(List<Reference> used)
        {
            super(Opcodes.ASM9);
            this.used = used;
        }

        private void use(Handle handle)
        {
            use(new Reference(handle.getOwner(), handle.getName(), handle.getDesc()));
        }

        private void use(Reference reference)
        {
            if (reference.owner.startsWith(THEIRS))
                used.add(reference);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces)
        {
            use(Reference.toClass(parent));
            for (String implemented : interfaces)
                use(Reference.toClass(implemented));
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions)
        {
            return new MethodVisitor(Opcodes.ASM9)
            {
                @Override
                public void visitMethodInsn(int opcode, String owner, String called, String as, boolean isInterface)
                {
                    use(new Reference(owner, called, as));
                }

                @Override
                public void visitFieldInsn(int opcode, String owner, String field, String as)
                {
                    use(new Reference(owner, field, as));
                }

                @Override
                public void visitTypeInsn(int opcode, String type)
                {
                    use(Reference.toClass(type));
                }

                @Override
                public void visitInvokeDynamicInsn(String called, String as, Handle bootstrap, Object... arguments)
                {
                    for (Object argument : arguments)
                        if (argument instanceof Handle)
                            use((Handle) argument);
                }
            };
        }
    }
}

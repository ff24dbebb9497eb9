package lacuna.cassandra;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.LongUnaryOperator;

import com.google.common.hash.Hashing;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.gms.ApplicationState;
import org.apache.cassandra.gms.EndpointState;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.gms.VersionedValue;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.TokenMetadata;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.utils.FBUtilities;
import org.apache.cassandra.utils.memory.MemoryUtil;

/**
 * The other nodes of the own datacentre, by host id, and the ring that they all must see alike.
 *
 * <p>A node with the plug-in says so in gossip. Nothing is known of what a node without it holds, so reads that concern such a node
 * are sent to the replicas.
 */
final class Peers
{
    private static final ApplicationState FLAG = ApplicationState.X9;
    private static final String READY = "lacuna-1";

    private static volatile Map<UUID, InetAddressAndPort> addresses = Map.of();
    private static volatile Map<InetAddressAndPort, UUID> hostIds = Map.of();
    private static volatile long ringVersion = -1;

    private Peers() {}

    static Map<UUID, InetAddressAndPort> addresses()
    {
        return addresses;
    }

    static UUID hostId(InetAddressAndPort address)
    {
        return hostIds.get(address);
    }

    /** Whether the ring is still the one that the hub knows; cheap enough for every read. */
    static boolean isRingKnown()
    {
        return ringVersion == metadata().getRingVersion();
    }

    private static TokenMetadata metadata()
    {
        return StorageService.instance.getTokenMetadata();
    }

    /** Null if the node does not take part. */
    static InetAddressAndPort readyAddress(UUID hostId)
    {
        InetAddressAndPort address = addresses.get(hostId);
        return address != null && isReady(address) ? address : null;
    }

    static boolean isReady(InetAddressAndPort address)
    {
        EndpointState state = Gossiper.instance.getEndpointStateForEndpoint(address);
        VersionedValue flag = state == null ? null : state.getApplicationState(FLAG);
        return flag != null && flag.value.equals(READY);
    }

    /** Gives the hub a changed ring and changed replicas, and announces this node once gossip runs. */
    static void refresh()
    {
        flag();
        TokenMetadata metadata = metadata();
        long version = metadata.getRingVersion();
        if (version != ringVersion)
            learn(metadata, version);
        Sharing.refresh(version);
    }

    private static void learn(TokenMetadata metadata, long version)
    {
        Map<InetAddressAndPort, UUID> all = metadata.getEndpointToHostIdMapForReading();
        Map<UUID, InetAddressAndPort> others = othersHere(all);
        tell(hash(metadata, all), others);
        addresses = Collections.unmodifiableMap(others);
        hostIds = Map.copyOf(all);
        ringVersion = version;
    }

    private static void flag()
    {
        InetAddressAndPort self = FBUtilities.getBroadcastAddressAndPort();
        if (!Gossiper.instance.isEnabled() || Gossiper.instance.getEndpointStateForEndpoint(self) == null || isReady(self))
            return;
        Gossiper.instance.addLocalApplicationState(FLAG, StorageService.instance.valueFactory.rack(READY));
    }

    private static Map<UUID, InetAddressAndPort> othersHere(Map<InetAddressAndPort, UUID> all)
    {
        String here = DatabaseDescriptor.getLocalDataCenter();
        Map<UUID, InetAddressAndPort> others = new HashMap<>();
        all.forEach((address, id) ->
        {
            boolean isHere = here.equals(DatabaseDescriptor.getEndpointSnitch().getDatacenter(address));
            if (isHere && !address.equals(FBUtilities.getBroadcastAddressAndPort()))
                others.put(id, address);
        });
        return others;
    }

    /** Same tokens, same movements: the same number on every node. */
    private static long hash(TokenMetadata metadata, Map<InetAddressAndPort, UUID> all)
    {
        TreeSet<String> facts = new TreeSet<>();
        metadata.getNormalAndBootstrappingTokenToEndpointMap()
                .forEach((token, owner) -> facts.add(token + " " + all.get(owner)));
        metadata.getLeavingEndpoints().forEach(leaving -> facts.add("leaving " + all.get(leaving)));
        metadata.getMovingEndpoints().forEach(moving -> facts.add("moving " + moving.left + " " + all.get(moving.right)));
        return Hashing.sha256().hashString(String.join("\n", facts), StandardCharsets.UTF_8).asLong();
    }

    private static void tell(long ring, Map<UUID, InetAddressAndPort> others)
    {
        lend(others.keySet(), address -> Native.ring(Exchange.hub(), ring, address, others.size()));
    }

    /** Gives a native call the address of some nodes, two words for each, which stay there until it has returned. */
    static void lend(Set<UUID> nodes, LongUnaryOperator call)
    {
        ByteBuffer words = ByteBuffer.allocateDirect(16 * Math.max(1, nodes.size())).order(ByteOrder.nativeOrder());
        for (UUID id : nodes)
            words.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        try
        {
            Exchange.checked(call.applyAsLong(MemoryUtil.getAddress(words)));
        }
        finally
        {
            Reference.reachabilityFence(words);
        }
    }
}

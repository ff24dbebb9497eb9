package lacuna.cassandra;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.dht.Range;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.locator.AbstractReplicationStrategy;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.NetworkTopologyStrategy;
import org.apache.cassandra.locator.RangesByEndpoint;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.utils.FBUtilities;

/**
 * Which nodes' filters of a table this node can use.
 *
 * <p>A coordinator asks the replicas of its datacentre, so it wants the filters of those that hold anything of the keyspace; with
 * {@code peers=replicas} only of those that share a range of tokens with it, which are all it needs for clients that ask a
 * replica. A keyspace without replicas in this datacentre is neither published here nor fetched. A missing filter only sends
 * reads to replicas.
 */
final class Sharing
{
    /** What the choice depends on: the ring and the replication strategy. */
    static final class Basis
    {
        final long ring;
        final AbstractReplicationStrategy strategy;

        Basis(long ring, AbstractReplicationStrategy strategy)
        {
            this.ring = ring;
            this.strategy = strategy;
        }

        boolean isSame(Basis other)
        {
            return other != null && ring == other.ring && strategy.equals(other.strategy);
        }
    }

    private Sharing() {}

    /** Whether any node of this datacentre may hold something of the keyspace. */
    static boolean isReplicatedHere(AbstractReplicationStrategy strategy)
    {
        if (!(strategy instanceof NetworkTopologyStrategy))
            return true;
        NetworkTopologyStrategy byDatacentre = (NetworkTopologyStrategy) strategy;
        return byDatacentre.getReplicationFactor(DatabaseDescriptor.getLocalDataCenter()).allReplicas > 0;
    }

    /** Gives the hub what has changed for any table; costs nothing while nothing has. */
    static void refresh(long ring)
    {
        Map<AbstractReplicationStrategy, RangesByEndpoint> found = new IdentityHashMap<>();
        for (TableGuard guard : Lacuna.guards())
        {
            TableFilter filter = guard.filter;
            Basis basis = new Basis(ring, filter.table.keyspace.getReplicationStrategy());
            if (filter.mode == Mode.OFF || basis.isSame(filter.basis))
                continue;
            filter.joinIf(isReplicatedHere(basis.strategy));
            if (filter.isUsed())
                tell(filter, found.computeIfAbsent(basis.strategy, Sharing::replicas));
            filter.basis = basis;
        }
    }

    private static RangesByEndpoint replicas(AbstractReplicationStrategy strategy)
    {
        return strategy.getAddressReplicas(StorageService.instance.getTokenMetadata().cloneOnlyTokenMap());
    }

    private static void tell(TableFilter filter, RangesByEndpoint replicas)
    {
        Set<Range<Token>> own = replicas.get(FBUtilities.getBroadcastAddressAndPort()).ranges();
        Set<UUID> wanted = Peers.addresses().entrySet().stream()
                                .filter(peer -> isOfUse(ranges(replicas, peer), own, filter.ofReplicasOnly))
                                .map(Map.Entry::getKey).collect(Collectors.toSet());
        filter.wanted = wanted;
        Peers.lend(wanted, address -> Native.want(Exchange.hub(), filter.mode.number(), filter.high(), filter.low(), address,
                                                  wanted.size()));
    }

    private static Set<Range<Token>> ranges(RangesByEndpoint replicas, Map.Entry<UUID, InetAddressAndPort> peer)
    {
        return replicas.get(peer.getValue()).ranges();
    }

    private static boolean isOfUse(Set<Range<Token>> theirs, Set<Range<Token>> own, boolean ofReplicasOnly)
    {
        return ofReplicasOnly ? !Collections.disjoint(theirs, own) : !theirs.isEmpty();
    }
}

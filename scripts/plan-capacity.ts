import { costAt, type MeasuredCosts, type UnitCost } from './cost-model.ts';

/** What the model assumes about a day and about the machines. */
export interface Assumptions {
  /** The peak hour of a day compared with its average. */
  readonly peakFactor: number;
  /** Share of a resource that may be used at the peak: the rest is for retries, reports and bad days. */
  readonly usableShare: number;
  readonly nodeCores: number;
  /** Of a database server; above, even one with fast disks would be at its limits. */
  readonly maxDatabaseCores: number;
  /** Write-ahead log that a database can flush and ship, in megabytes a second. */
  readonly maxLogMegabytes: number;
  readonly retentionDays: number;
  /** Bloat, indexes that grow, temporary files. */
  readonly diskFactor: number;
}

export const defaultAssumptions: Assumptions = {
  peakFactor: 4,
  usableShare: 0.6,
  nodeCores: 8,
  maxDatabaseCores: 48,
  maxLogMegabytes: 200,
  retentionDays: 90,
  diskFactor: 1.3,
};

type ResourceName = 'nodes' | 'database cores' | 'write-ahead log' | 'slowest follower';

/** A resource that messages wait for. */
interface PlannedResource {
  readonly name: ResourceName;
  /** Messages a second at which it is fully used. */
  readonly maxRate: number;
  /** Share of it that the peak uses. */
  readonly used: number;
  /** Mean wait of a message at the peak, in milliseconds. */
  readonly waitMs: number;
}

/** The machines for a number of messages, and what they do at the peak. */
export interface CapacityPlan {
  readonly peak: number;
  readonly databases: number;
  readonly nodes: number;
  readonly serviceCores: number;
  /** Of all databases together. */
  readonly databaseCores: number;
  /** Bytes. */
  readonly logPerDay: number;
  readonly keptPerDay: number;
  readonly disk: number;
  /** The resource that runs out first comes first. */
  readonly resources: readonly PlannedResource[];
}

/**
 * Machines for a number of messages a day: as few databases as stay within every limit, and what their peak does to each
 * resource. Cores and nodes are queues with as many servers (M/M/c); a log and a follower handle one message after another
 * (M/D/1).
 */
export function planCapacity(
  messagesPerDay: number,
  costs: MeasuredCosts,
  assumptions: Assumptions = defaultAssumptions,
): CapacityPlan {
  const { usableShare, maxDatabaseCores, maxLogMegabytes } = assumptions;
  const peak = (messagesPerDay / 86_400) * assumptions.peakFactor;
  const needed = (databases: number): number => {
    const rate = peak / databases;
    const cost = costAt(rate, costs);
    return Math.max(
      (rate * cost.databaseMicroseconds) / 1e6 / usableShare / maxDatabaseCores,
      (rate * cost.walBytes) / 1e6 / maxLogMegabytes,
      (rate * cost.followMicroseconds) / 1e6 / usableShare,
    );
  };
  let databases = 1;
  while (needed(databases) > 1) databases += 1;
  const cost = costAt(peak / databases, costs);
  const serviceCores = (peak * cost.serviceMicroseconds) / 1e6 / usableShare;
  const databaseCores = (peak * cost.databaseMicroseconds) / 1e6 / usableShare;
  const nodes = Math.max(1, Math.ceil(serviceCores / assumptions.nodeCores));
  const keptPerDay = messagesPerDay * cost.keptBytes;
  return {
    peak,
    databases,
    nodes,
    serviceCores,
    databaseCores,
    logPerDay: messagesPerDay * cost.walBytes,
    keptPerDay,
    disk: keptPerDay * assumptions.retentionDays * assumptions.diskFactor,
    resources: resourcesOf(cost, peak, { databases, nodes, databaseCores }, assumptions),
  };
}

function resourcesOf(
  cost: UnitCost,
  peak: number,
  plan: Pick<CapacityPlan, 'databases' | 'nodes' | 'databaseCores'>,
  { nodeCores, maxLogMegabytes }: Assumptions,
): PlannedResource[] {
  const { databases, nodes } = plan;
  const coresEach = Math.max(1, Math.ceil(plan.databaseCores / databases));
  const rate = peak / databases;
  const logSeconds = cost.walBytes / (maxLogMegabytes * 1e6);
  const all = [
    queue('nodes', peak, cost.serviceMicroseconds / 1e6, nodes * nodeCores, 1),
    queue('database cores', rate, cost.databaseMicroseconds / 1e6, coresEach, databases),
    queue('write-ahead log', rate, logSeconds, 1, databases),
    queue('slowest follower', rate, cost.followMicroseconds / 1e6, 1, databases),
  ];
  return all.toSorted((one, other) => one.maxRate - other.maxRate);
}

/**
 * @param rate messages a second of one queue
 * @param seconds that a message uses one server
 * @param queues of this kind
 */
function queue(
  name: ResourceName,
  rate: number,
  seconds: number,
  servers: number,
  queues: number,
): PlannedResource {
  const load = rate * seconds;
  const wait =
    servers === 1
      ? (load * seconds) / (2 * (1 - load))
      : (waitingShare(servers, load) * seconds) / (servers - load);
  return {
    name,
    maxRate: (servers / seconds) * queues,
    used: load / servers,
    waitMs: load < servers ? wait * 1_000 : Number.POSITIVE_INFINITY,
  };
}

/** Share of the messages that wait for one of several servers (Erlang C). @param load busy servers */
function waitingShare(servers: number, load: number): number {
  // Erlang B by its recursion, which doesn't overflow.
  let blocked = 1;
  for (let count = 1; count <= servers; count += 1)
    blocked = (load * blocked) / (count + load * blocked);
  return blocked / (1 - (load / servers) * (1 - blocked));
}

import { Busy } from '../values/errors.ts';

/** Who shares: an account, or an address from its narrowest network to its widest (`networksOf`). */
export type Sharer = string | readonly string[];

/** How a resource is shared. All resources are in `policies.ts`. */
export interface Policy {
  /** As in the message of `Busy`: "changes". */
  readonly what: string;
  /** Max slots or bytes in use. */
  readonly total: number;
  /** What one sharer gets at least, others permitting; wider networks get more, but less than all their parts. */
  readonly share: number;
  /** What sharers with more than their share leave free, so that the next one starts at once. */
  readonly reserve: number;
  /** Callers that wait, in total and per sharer, and for how long; without it, those that can't start are refused. */
  readonly wait?: { readonly callers: number; readonly perSharer: number; readonly ms: number };
  /** Retry-After of a refused caller, in seconds; 1 by default. */
  readonly retryAfter?: number;
  /** When full, what made least progress ends, beginning with the sharer that has most. */
  readonly evict?: Eviction;
}

interface Eviction {
  /** What began later ends only for sharers that have less. */
  readonly afterMs: number;
  /** What is faster, in units of its progress per second, or began later, stays. */
  readonly slowerThan?: number;
}

/** What can end to make room. */
export interface Evictable {
  /** What was done so far: bytes that arrived, messages. */
  progress(): number;
  /** Ends it; its holding is released. */
  evict(): void;
}

interface AcquireOptions {
  /** Slots or bytes; one by default. More than a share counts as a share. */
  readonly amount?: number;
  /** Goes before others, but not always, and half of the queue is for others. A sharer is either always first or never. */
  readonly first?: boolean;
  /** Waits as long as it takes, outside of the queue's limits. */
  readonly patient?: boolean;
  readonly evictable?: Evictable;
}

interface Waiter {
  readonly node: Node;
  readonly amount: number;
  readonly patient: boolean;
  readonly evictable: Evictable | undefined;
  readonly start: (holding: Holding) => void;
  readonly refuse: () => void;
}

/** A sharer, or a network that contains some. The root has all. */
interface Node {
  readonly name: string;
  readonly parent: Node | undefined;
  readonly isFirst: boolean;
  readonly share: number;
  /** This, the networks around it, and the root. */
  readonly path: readonly Node[];
  readonly children: Map<string, Node>;
  readonly holdings: Set<Holding>;
  /** Of this sharer; callers of its parts are in theirs. */
  readonly queue: Waiter[];
  held: number;
  waiting: number;
  /** Of those that wait, the ones that the limits of the queue are for. */
  impatient: number;
}

/** While callers wait for something that must be evicted by pace, how often to look. */
const paceCheckMs = 500;
/** A longer time between two looks is a stall of this process, for which nobody is evicted. */
const maxStepMs = 1_000;
/** After this many starts of callers that go first, another one starts. */
const maxFirstStarts = 3;

/** Slots or bytes that a caller holds. */
export class Holding {
  readonly startedAt: number;
  amount: number;
  readonly #limiter: Limiter;
  /** Undefined once released. */
  node: Node | undefined;
  evictable: Evictable | undefined;

  constructor(
    limiter: Limiter,
    node: Node,
    amount: number,
    startedAt: number,
    evictable?: Evictable,
  ) {
    this.#limiter = limiter;
    this.node = node;
    this.amount = amount;
    this.startedAt = startedAt;
    this.evictable = evictable;
  }

  /** Takes more without waiting. @returns false if there is none, or this was released or had to make room */
  grow(amount: number): boolean {
    return this.#limiter.grow(this, amount);
  }

  /** From here on it can't make room for others. */
  settle(): void {
    this.evictable = undefined;
  }

  /** Idempotent. */
  readonly release = (): void => this.#limiter.release(this);
}

/**
 * Shares a resource fairly: between accounts for authenticated work, between networks for strangers. A sharer that is alone
 * can use everything but a reserve. Once another one waits, it gets its share, and what becomes free goes to whoever holds
 * least. Callers that can't start soon are refused instead of piling up.
 */
export class Limiter {
  readonly policy: Policy;
  readonly #root: Node;
  readonly #clock: () => number;
  #now = 0;
  #seenAt: number;
  #paceCheck: NodeJS.Timeout | undefined;
  /** Since another caller started from the queue. */
  #firstStarts = 0;

  /**
   * @param share of the policy's amounts that this process has, such as `memoryShare`
   * @param clock monotonic milliseconds
   */
  constructor(policy: Policy, share = 1, clock: () => number = () => performance.now()) {
    this.policy = {
      ...policy,
      total: Math.max(1, Math.floor(policy.total * share)),
      share: Math.max(1, Math.floor(policy.share * share)),
      reserve: Math.floor(policy.reserve * share),
    };
    this.#clock = clock;
    this.#seenAt = clock();
    this.#root = makeNode('', undefined, false, this.policy.total);
  }

  /** Slots or bytes in use. */
  get held(): number {
    return this.#root.held;
  }

  /** Callers that wait. */
  get waiting(): number {
    return this.#root.waiting;
  }

  /**
   * Runs work in a slot.
   * @throws Busy if none becomes free in time
   */
  async run<Result>(
    sharer: Sharer,
    work: () => Promise<Result>,
    options?: AcquireOptions,
  ): Promise<Result> {
    const holding = await this.acquire(sharer, options);
    try {
      return await work();
    } finally {
      holding.release();
    }
  }

  /** Takes some without waiting, past callers that wait for more than there is; undefined if there is none. */
  tryAcquire(sharer: Sharer, options: AcquireOptions = {}): Holding | undefined {
    this.#tick();
    const node = this.#open(sharer, options.first === true);
    const amount = this.#clamp(options.amount ?? 1);
    return this.#admit(node, amount, options.evictable);
  }

  /** @throws Busy if none becomes free in time */
  acquire(sharer: Sharer, options: AcquireOptions = {}): Promise<Holding> {
    this.#tick();
    const { wait } = this.policy;
    const { patient = false, evictable } = options;
    const node = this.#open(sharer, options.first === true);
    const amount = this.#clamp(options.amount ?? 1);
    const isNext = amount === 0 || (node.waiting === 0 && !this.#isAwaited(node));
    const holding = isNext ? this.#admit(node, amount, evictable) : undefined;
    if (holding !== undefined) return Promise.resolve(holding);
    this.#reopen(node);
    if (!patient && !this.#makeWaitingRoom(node)) {
      this.#close(node);
      return Promise.reject(this.#busy());
    }
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const waiter: Waiter = {
        node,
        amount,
        patient,
        evictable,
        start: (started) => {
          clearTimeout(timer);
          resolve(started);
        },
        refuse: () => {
          clearTimeout(timer);
          reject(this.#busy());
        },
      };
      if (!patient && wait !== undefined && wait.ms !== Number.POSITIVE_INFINITY)
        timer = setTimeout(() => {
          this.#dequeue(waiter);
          waiter.refuse();
          this.#startWaiting();
        }, wait.ms);
      node.queue.push(waiter);
      for (const each of node.path) {
        each.waiting += 1;
        if (!patient) each.impatient += 1;
      }
      this.#startWaiting();
      if (this.policy.evict?.slowerThan !== undefined && node.queue.includes(waiter))
        this.#checkPace();
    });
  }

  grow(holding: Holding, amount: number): boolean {
    this.#tick();
    const { node } = holding;
    if (node === undefined || !this.#makeRoom(node, amount)) return false;
    // It may have had to make room itself.
    if (holding.node === undefined) return false;
    holding.amount += amount;
    for (const each of node.path) each.held += amount;
    return true;
  }

  release(holding: Holding): void {
    if (holding.node === undefined) return;
    this.#tick();
    this.#remove(holding);
    this.#startWaiting();
  }

  #tick(): void {
    const now = this.#clock();
    this.#now += Math.min(Math.max(0, now - this.#seenAt), maxStepMs);
    this.#seenAt = now;
  }

  #busy(): Busy {
    const { what, retryAfter = 1 } = this.policy;
    return new Busy(`Too many ${what} in progress. Retry in ${retryAfter} s`, retryAfter);
  }

  #clamp(amount: number): number {
    return Math.min(amount, this.policy.share, this.policy.total);
  }

  #open(sharer: Sharer, isFirst: boolean): Node {
    const names = typeof sharer === 'string' ? [sharer] : sharer;
    let node = this.#root;
    for (let level = names.length - 1; level >= 0; level -= 1) {
      const name = names[level] ?? '';
      const share = shareAt(this.policy.share, level, names.length);
      const next = node.children.get(name) ?? makeNode(name, node, isFirst, share);
      node.children.set(name, next);
      node = next;
    }
    return node;
  }

  /** Forgets a sharer that has and wants nothing. */
  #close(node: Node): void {
    for (const each of node.path) {
      if (each.held > 0 || each.waiting > 0 || each.children.size > 0) return;
      each.parent?.children.delete(each.name);
    }
  }

  #admit(node: Node, amount: number, evictable: Evictable | undefined): Holding | undefined {
    if (this.#makeRoom(node, amount)) return this.#hold(node, amount, evictable);
    this.#close(node);
    return undefined;
  }

  #hold(node: Node, amount: number, evictable: Evictable | undefined): Holding {
    const holding = new Holding(this, node, amount, this.#now, evictable);
    // An eviction may have closed it.
    this.#reopen(node);
    node.holdings.add(holding);
    for (const each of node.path) each.held += amount;
    return holding;
  }

  #reopen(node: Node): void {
    for (const each of node.path) each.parent?.children.set(each.name, each);
  }

  /** The narrowest of its networks, or the root, that has no room for more; undefined if there is room. */
  #findFull(node: Node, amount: number): Node | undefined {
    if (amount === 0) return undefined;
    if (this.#root.held + amount > this.policy.total) return this.#root;
    const exceeded = findExceeded(node, amount);
    if (exceeded === undefined || (this.#leavesReserve(amount) && !this.#isAwaited(node)))
      return undefined;
    return exceeded;
  }

  #leavesReserve(amount: number): boolean {
    return this.#root.held + amount <= this.policy.total - this.policy.reserve;
  }

  /** True if others wait for their share. */
  #isAwaited(node: Node): boolean {
    return (
      this.#root.waiting > node.waiting && this.#findWaiter(this.#root, true, node) !== undefined
    );
  }

  /** True if there is room, which others may have to make. */
  #makeRoom(node: Node, amount: number): boolean {
    for (;;) {
      const full = this.#findFull(node, amount);
      if (full === undefined) return true;
      const victim = this.#findVictim(full, node, amount);
      if (victim === undefined) return false;
      this.#evict(victim);
    }
  }

  #evict(holding: Holding): void {
    const { evictable } = holding;
    this.#remove(holding);
    evictable?.evict();
  }

  #remove(holding: Holding): void {
    const { node } = holding;
    if (node === undefined) return;
    holding.node = undefined;
    holding.evictable = undefined;
    node.holdings.delete(holding);
    for (const each of node.path) each.held -= holding.amount;
    this.#close(node);
  }

  /** What made least progress, of the sharer with most within a network that has something to end. */
  #findVictim(within: Node, requester: Node, amount: number): Holding | undefined {
    if (this.policy.evict === undefined) return undefined;
    const own = new Set(requester.path);
    const isPaced = this.policy.evict.slowerThan !== undefined;
    const isBigger = (one: Node, other: Node): boolean =>
      one.held > other.held || (one.held === other.held && own.has(other));
    const search = (node: Node): Holding | undefined => {
      if (node.children.size === 0) return this.#findSlowest(node, requester, amount);
      const children = [...node.children.values()];
      const biggest = children.reduce((one, other) => (isBigger(other, one) ? other : one));
      const found = search(biggest);
      if (found !== undefined) return found;
      for (const child of children.toSorted((one, other) => other.held - one.held)) {
        // By pace, only whoever holds most makes room.
        if (isPaced && child.held < biggest.held) return undefined;
        const next = search(child);
        if (next !== undefined) return next;
      }
      return undefined;
    };
    return search(within);
  }

  /** What made least progress of a sharer, and may end for another one. */
  #findSlowest(holder: Node, requester: Node, amount: number): Holding | undefined {
    const { afterMs = 0, slowerThan } = this.policy.evict ?? {};
    const isPaced = slowerThan !== undefined;
    const hasMore = hasMoreThan(holder, requester, isPaced ? 0 : amount);
    // Somebody who waits isn't helped at their own cost.
    if (this.policy.wait !== undefined && !hasMore) return undefined;
    let slowest: Holding | undefined;
    let slowestPace = slowerThan ?? Number.POSITIVE_INFINITY;
    for (const holding of holder.holdings) {
      const age = this.#now - holding.startedAt;
      if (holding.evictable === undefined || (age < afterMs && (isPaced || !hasMore))) continue;
      const seconds = Math.max(1, isPaced ? age - afterMs : age) / 1_000;
      const pace = holding.evictable.progress() / seconds;
      if (pace >= slowestPace) continue;
      slowest = holding;
      slowestPace = pace;
    }
    return slowest;
  }

  /** Starts those that wait as there is room: first those below their share, and of these whoever holds least. */
  #startWaiting(): void {
    while (this.#root.waiting > 0) {
      const entitled = this.#findWaiter(this.#root, true);
      const waiter = entitled ?? this.#findWaiter(this.#root, false);
      if (waiter === undefined) return;
      const { node, amount, evictable } = waiter;
      // A small request doesn't overtake a large one that waits for the total.
      if (entitled !== undefined && this.#root.held + amount > this.policy.total) return;
      if (entitled === undefined && !this.#leavesReserve(amount)) return;
      this.#dequeue(waiter);
      this.#firstStarts = node.isFirst ? this.#firstStarts + 1 : 0;
      const holding = this.#hold(node, amount, evictable);
      // Others who hold as little go before its next one.
      for (const each of node.path) {
        each.parent?.children.delete(each.name);
        each.parent?.children.set(each.name, each);
      }
      waiter.start(holding);
    }
  }

  /** The next to start below a node. @param isEntitled whether it must be within its share */
  #findWaiter(node: Node, isEntitled: boolean, except?: Node): Waiter | undefined {
    if (node === except) return undefined;
    let [best] = node.queue;
    if (best !== undefined && isEntitled && findExceeded(node, best.amount) !== undefined)
      best = undefined;
    let first: Node | undefined;
    for (const child of node.children.values()) {
      if (child.waiting === 0 || (first !== undefined && !this.#isBefore(child, first))) continue;
      const found = this.#findWaiter(child, isEntitled, except);
      if (found === undefined) continue;
      best = found;
      first = child;
    }
    return best;
  }

  #isBefore(one: Node, other: Node): boolean {
    if (one.isFirst === other.isFirst) return one.held < other.held;
    return one.isFirst === this.#firstStarts < maxFirstStarts;
  }

  #dequeue(waiter: Waiter): void {
    const { node, patient } = waiter;
    const place = node.queue.indexOf(waiter);
    if (place === -1) return;
    node.queue.splice(place, 1);
    for (const each of node.path) {
      each.waiting -= 1;
      if (!patient) each.impatient -= 1;
    }
    this.#close(node);
  }

  /**
   * If the queue is full, the newest caller of the sharer with most waiting is refused, which may be this one. Callers that go
   * first and the others make room for each other only beyond their half.
   */
  #makeWaitingRoom(node: Node): boolean {
    const { wait } = this.policy;
    if (wait === undefined || node.impatient >= wait.perSharer) return false;
    if (this.#root.impatient < wait.callers) return true;
    const all = [...this.#root.children.values()];
    const own = all.filter(({ isFirst }) => isFirst === node.isFirst);
    const hasHalf = own.reduce((sum, each) => sum + each.impatient, 0) >= (wait.callers - 1) / 2;
    let biggest = findCrowded(hasHalf ? own : all.filter((each) => !own.includes(each)));
    while (biggest.children.size > 0) biggest = findCrowded([...biggest.children.values()]);
    if (hasHalf && node.impatient + 1 >= biggest.impatient) return false;
    const dropped = biggest.queue.findLast(({ patient }) => !patient);
    if (dropped === undefined) return false;
    this.#dequeue(dropped);
    this.#reopen(node);
    dropped.refuse();
    return true;
  }

  /** While callers wait, evicts one slow holder at a time, because the others then get faster. */
  #checkPace(): void {
    this.#paceCheck ??= setInterval(() => {
      this.#tick();
      if (this.#root.waiting === 0) {
        clearInterval(this.#paceCheck);
        this.#paceCheck = undefined;
        return;
      }
      for (const child of this.#root.children.values()) {
        const waiter = child.waiting === 0 ? undefined : this.#findWaiter(child, true);
        if (waiter === undefined) continue;
        const victim = this.#findVictim(this.#root, waiter.node, waiter.amount);
        if (victim === undefined) continue;
        this.#evict(victim);
        this.#startWaiting();
        return;
      }
    }, paceCheckMs).unref();
  }
}

/** The share of a network: wider ones get more, but less than all their parts. @param level 0 for the narrowest */
export function shareAt(share: number, level: number, levels: number): number {
  if (level === 0) return share;
  return share * (level === levels - 1 ? 4 : 2);
}

function makeNode(name: string, parent: Node | undefined, isFirst: boolean, share: number): Node {
  const path: Node[] = [];
  const counts = { held: 0, waiting: 0, impatient: 0 };
  const own = { children: new Map(), holdings: new Set<Holding>(), queue: [], ...counts };
  const node = { name, parent, path, isFirst, share, ...own };
  path.push(node, ...(parent?.path ?? []));
  return node;
}

/** The narrowest of its networks that would have more than its share. */
function findExceeded(node: Node, amount: number): Node | undefined {
  for (const each of node.path)
    if (each.parent !== undefined && each.held + amount > each.share) return each;
  return undefined;
}

/** True if another sharer has more than this one would have, where their networks part. */
function hasMoreThan(other: Node, own: Node, amount: number): boolean {
  if (other === own) return false;
  const others = other.path.toReversed();
  const owns = own.path.toReversed();
  const at = others.findIndex((each, level) => each !== owns[level]);
  return (others[at]?.held ?? 0) > (owns[at]?.held ?? 0) + amount;
}

/** The last of those with most callers in the queue. */
function findCrowded(nodes: readonly Node[]): Node {
  return nodes.reduce((one, other) => (other.impatient >= one.impatient ? other : one));
}

import { setTimeout as delay } from 'node:timers/promises';
import type { WholeCluster } from './patroni-cluster.ts';

interface FailoverFault {
  /** How long it lasts before `end`. */
  readonly seconds: number;
  /** Prepares what isn't part of the fault. */
  readonly prepare?: (scene: WholeCluster) => Promise<void>;
  readonly inject: (scene: WholeCluster) => void | Promise<void>;
  readonly end?: (scene: WholeCluster) => void;
}

/** Longer than Patroni waits before a standby takes over. */
const longSeconds = 40;
/** Longer than Patroni and PostgreSQL need to notice that a standby is gone. */
const standbySeconds = 20;
/** How far standbys are behind in `lagging standbys`: by less than 1 MB, beyond which Patroni promotes none. */
const lagSeconds = 1;

/** systemd's default delay before it restarts a service (systemd.service(5), RestartSec=). */
const restartMs = 100;

const faults = {
  'primary host killed': {
    seconds: longSeconds,
    inject: ({ primary }) => primary.signalAll('SIGKILL'),
    end: ({ primary }) => primary.start(),
  },
  'primary PostgreSQL killed': {
    seconds: 15,
    inject: ({ primary }) => void primary.signalPostgres('SIGKILL'),
  },
  'primary Patroni killed': {
    seconds: longSeconds,
    inject: ({ primary }) => primary.signalPatroni('SIGKILL'),
    end: ({ primary }) => primary.start(),
  },
  'primary Patroni killed, and restarted by systemd': {
    seconds: 10,
    async inject({ primary }) {
      primary.signalPatroni('SIGKILL');
      await delay(restartMs);
      primary.start();
    },
  },
  'primary host paused': {
    seconds: longSeconds,
    inject: ({ primary }) => primary.signalAll('SIGSTOP'),
    end: ({ primary }) => primary.signalAll('SIGCONT'),
  },
  'primary PostgreSQL paused': {
    seconds: longSeconds,
    inject: ({ primary }) => void primary.signalPostgres('SIGSTOP'),
    end: ({ primary }) => void primary.signalPostgres('SIGCONT'),
  },
  'primary cut off': {
    seconds: longSeconds,
    inject: ({ primary }) => primary.partition(),
    end: ({ primary }) => primary.rejoin(),
  },
  'primary restarted': {
    seconds: 10,
    inject: ({ primary }) => primary.order('restart'),
  },
  switchover: {
    seconds: 10,
    inject: ({ primary, standby }) =>
      primary.order('switchover', { leader: primary.name, candidate: standby.name }),
  },
  'synchronous standby killed': {
    seconds: standbySeconds,
    inject: ({ standby }) => standby.signalAll('SIGKILL'),
    end: ({ standby }) => standby.start(),
  },
  'synchronous standby paused': {
    seconds: standbySeconds,
    inject: ({ standby }) => standby.signalAll('SIGSTOP'),
    end: ({ standby }) => standby.signalAll('SIGCONT'),
  },
  'synchronous standby cut off': {
    seconds: standbySeconds,
    inject({ primary, standby }) {
      standby.partition();
      primary.stopReplication([standby]);
    },
    end({ primary, standby }) {
      standby.rejoin();
      primary.rejoin();
    },
  },
  'other standby killed': {
    seconds: standbySeconds,
    inject: ({ other }) => other.signalAll('SIGKILL'),
    end: ({ other }) => other.start(),
  },
  'lagging standbys, primary host killed': {
    seconds: longSeconds,
    async prepare({ primary, standby, other }) {
      primary.stopReplication([standby, other]);
      await delay(lagSeconds * 1_000);
    },
    inject: ({ primary }) => primary.signalAll('SIGKILL'),
    end({ primary }) {
      primary.rejoin();
      primary.start();
    },
  },
} satisfies Record<string, FailoverFault>;

export type FailoverFaultName = keyof typeof faults;
export const failoverFaultNames = Object.keys(faults) as FailoverFaultName[];

export function failoverFault(name: FailoverFaultName): FailoverFault {
  return faults[name];
}

import { workerData } from 'node:worker_threads';
import { sql } from 'kysely';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { createLog } from '../../src/base/values/log.ts';
import { EventFeed } from '../../src/outcomes/feed/event-feed.ts';
import { inWindow } from '../../src/outcomes/feed/feed-window-store.ts';

/** Follows events as a process of its own would, and ends in the middle of a window with an event of the account `poison`. */
const { url, name, poison } = workerData as Readonly<Record<string, string>>;

new EventFeed({
  database: openDatabase({ url: url ?? '' }),
  log: createLog('silent'),
  followers: [
    {
      name: name ?? '',
      async follow(transaction, window) {
        const { rows } = await sql<{ account_id: string }>`
          insert into test_seen (follower, account_id, id, tx)
          select ${name}, account_id, id, tx from message_event where ${inWindow(window, 'message_event')} order by tx
          returning account_id`.execute(transaction);
        if (rows.some((row) => row.account_id === poison)) process.exit(1);
      },
    },
  ],
}).start();

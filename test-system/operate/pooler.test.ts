import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openDatabase, requireServer } from '../../src/base/database/open-database.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { adminUrl } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../support/free-port.ts';

/** Debian's PgBouncer in front of the test server. @returns the port */
async function startPooler(settings: string): Promise<number> {
  const port = await freePort();
  const target = new URL(adminUrl());
  const folder = temporaryFolder();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${target.searchParams.get('host') ?? target.hostname} port=${target.port || 5432} user=${target.username} password=${target.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
${settings}
`,
    { mode: 0o644 },
  );
  // It refuses to run as root, and its user can't read the folder.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const pooler = spawn('pgbouncer', [...user, '-q', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(pooler, 'exit');
  after(async () => {
    pooler.kill('SIGINT');
    await exited;
  });
  await waitFor('the pooler', async () => {
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return open;
  });
  return port;
}

test('a pooler is recognized, whether it refuses the settings of connections or drops them', async () => {
  for (const settings of ['', 'ignore_startup_parameters = options']) {
    const port = await startPooler(settings);
    const url = new URL(adminUrl());
    url.hostname = '127.0.0.1';
    url.port = String(port);
    url.searchParams.delete('host');
    const database = openDatabase({ url: url.href });
    await assert.rejects(requireServer(database), {
      name: 'OperatorError',
      message:
        /loses its settings on the way, as in a pooler\. In DATABASE_URL, use PostgreSQL’s own port/,
    });
    await database.close();
  }
});

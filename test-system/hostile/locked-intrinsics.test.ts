import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSignalpost } from '../../test/support/run-signalpost.ts';

/** Says at the end what code in the process can do. */
const probe = `data:text/javascript,${encodeURIComponent(`
  process.on('exit', () => process.stdout.write('intrinsics ' + JSON.stringify({
    isExtensible: [Object, Array, Function].map(({ prototype }) => Object.isExtensible(prototype)),
    hasProto: '__proto__' in {},
  }) + '\\n'));
`)}`;

test('ASVS 4.0.3 5.1.2: bin/signalpost, whose processes all run the same file, has locked intrinsics', async () => {
  const program = runSignalpost(['--version'], { NODE_OPTIONS: `--import=${probe}` });
  assert.equal(await program.exit, 0);
  const [, said = ''] = /^intrinsics (.+)$/m.exec(program.output.stdout) ?? [];
  assert.deepEqual(JSON.parse(said), { isExtensible: [false, false, false], hasProto: false });
});

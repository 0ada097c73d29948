import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const log = join(import.meta.dirname, '../../src/base/values/log.ts');

test('row data quoted in database errors isn’t logged', () => {
  const script = `
    import { createLog } from ${JSON.stringify(log)};
    const members = { code: '22P02', detail: 'reader@shop.test', where: 'reader@shop.test' };
    createLog('info').error({ err: Object.assign(new Error('broken'), members) }, 'failed');`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  const line = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
  assert.equal(line.err.code, '22P02');
  assert.equal(line.err.message, 'broken');
  assert.ok(!stderr.includes('reader@shop.test'));
});

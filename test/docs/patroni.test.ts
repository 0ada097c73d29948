import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { clusterSettings } from '../../bench/failover/configure-member.ts';
import { codeBlocks } from '../support/markdown-pages.ts';

const root = join(import.meta.dirname, '../..');

test('the cluster that the guide sets up is the one that was measured', () => {
  const blocks = codeBlocks(root, 'docs/operate/high-availability.md');
  const [configuration] = blocks.filter(({ language }) => language === 'yaml');
  const { bootstrap, etcd, etcd3 } = parse(configuration?.text ?? '');
  assert.deepEqual(bootstrap.dcs, clusterSettings(true));
  assert.ok(etcd !== undefined && etcd3 === undefined, 'the API of etcd 2');
});

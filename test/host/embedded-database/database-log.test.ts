import assert from 'node:assert/strict';
import { closeSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { dataFolderAt } from '../../../src/host/embedded-database/data-folder.ts';
import {
  lastLogError,
  limitDatabaseLog,
  openDatabaseLog,
} from '../../../src/host/embedded-database/database-log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const line = (text: string): string => `2026-01-31 12:00:00.000 UTC [1] ${text}\n`;

test('the reason for a database exit is found even after the log was truncated', () => {
  const folder = dataFolderAt(temporaryFolder());
  writeFileSync(folder.log, line('FATAL:  of the run before').repeat(10));
  const { handle, size } = openDatabaseLog(folder);
  closeSync(handle);
  assert.equal(lastLogError(folder, size), '', 'messages of an earlier run are not the reason');
  writeFileSync(folder.log, line('LOG:  much').repeat(300_000));
  limitDatabaseLog(folder);
  writeFileSync(folder.log, line('PANIC:  a reason'), { flag: 'a' });
  assert.equal(lastLogError(folder, size), 'a reason');
});

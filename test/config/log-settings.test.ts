import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.ts';

test('by default, only the log itself is written, to standard error', () => {
  const { logOutputs, logLines } = readConfig({});
  assert.deepEqual(logOutputs, { file: undefined, syslog: undefined, otlp: undefined });
  assert.deepEqual(logLines, { access: false, audit: false, messages: undefined });
});

test('outputs are read with their defaults', () => {
  const outputs = (environment: Record<string, string>) => readConfig(environment).logOutputs;
  assert.equal(outputs({ LOG_FILE: 'x.log' }).file, resolve('x.log'));
  assert.deepEqual(outputs({ LOG_SYSLOG: 'udp://log.example.com' }).syslog, {
    protocol: 'udp',
    host: 'log.example.com',
    port: 514,
  });
  assert.deepEqual(outputs({ LOG_SYSLOG: 'tcp://[::1]:601' }).syslog, {
    protocol: 'tcp',
    host: '::1',
    port: 601,
  });
  assert.deepEqual(outputs({ LOG_SYSLOG: 'unix:///run/log.sock' }).syslog, {
    protocol: 'unix',
    path: '/run/log.sock',
  });
});

test('an endpoint for traces doesn’t export logs, one for logs does', () => {
  const urlOf = (environment: Record<string, string>) =>
    readConfig(environment).logOutputs.otlp?.target.url;
  const common = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  assert.equal(urlOf(common), undefined);
  assert.equal(urlOf({ ...common, OTEL_LOGS_EXPORTER: 'otlp' }), 'http://127.0.0.1:4318/v1/logs');
  const own = { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://127.0.0.1:4318/in' };
  assert.equal(urlOf(own), 'http://127.0.0.1:4318/in');
  assert.equal(urlOf({ ...own, OTEL_LOGS_EXPORTER: 'none' }), undefined);
});

for (const [name, value, message] of [
  ['LOG_SYSLOG', 'log.example.com', /must be udp:\/\/host:port/],
  ['LOG_SYSLOG', 'tls://log.example.com', /must be udp:\/\/host:port/],
  ['LOG_SYSLOG', 'udp://host:99999', /must be udp:\/\/host:port/],
  ['LOG_SYSLOG', 'unix:relative', /must be udp:\/\/host:port/],
  ['LOG_ACCESS', 'yes', /must be 1 or 0/],
  ['LOG_MESSAGES', 'all', /must be one of 0, 1, addresses/],
  ['OTEL_LOGS_EXPORTER', 'otlp', /needs OTEL_EXPORTER_OTLP_LOGS_ENDPOINT/],
] as const)
  test(`${name}=${value} is refused at the start`, () => {
    assert.throws(() => readConfig({ [name]: value }), message);
  });

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/operating/config/config.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test('traces are off without an endpoint, whatever else is set', () => {
  const platform = {
    OTEL_SERVICE_NAME: 'mail',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_RESOURCE_ATTRIBUTES: 'host.id=1',
  };
  assert.equal(readConfig(platform).tracing, undefined);
  assert.equal(readConfig({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }).tracing, undefined);
  assert.equal(readConfig({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }).tracing, undefined);
});

test('the path of traces follows a common endpoint, and an endpoint for traces is used as it is', () => {
  const urlOf = (environment: Record<string, string>) =>
    readConfig(environment).tracing?.target.url;
  assert.equal(urlOf(endpoint), 'http://127.0.0.1:4318/v1/traces');
  assert.equal(
    urlOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example.com/mine/' }),
    'https://otlp.example.com/mine/v1/traces',
  );
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://otlp.example.com/in' };
  assert.equal(urlOf({ ...endpoint, ...own }), 'https://otlp.example.com/in');
});

test('headers and attributes are decoded, and headers can come from a file', () => {
  const file = join(temporaryFolder(), 'headers');
  writeFileSync(file, 'authorization=Basic%20YTpi, x-scope = one\n');
  const { tracing } = readConfig({
    ...endpoint,
    OTEL_EXPORTER_OTLP_HEADERS_FILE: file,
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=mail,team=a%2Cb',
  });
  assert.deepEqual(tracing?.target.headers, { authorization: 'Basic YTpi', 'x-scope': 'one' });
  assert.deepEqual(tracing?.identity, {
    serviceName: 'mail',
    attributes: { 'service.name': 'mail', team: 'a,b' },
  });
});

const refused: readonly [name: string, value: string, message: RegExp][] = [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', '127.0.0.1:4318', /must be the http or https URL/],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://x.test', /must be the http or https URL/],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://me:secret@x.test', /OTEL_EXPORTER_OTLP_HEADERS/],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /must be one of http\/protobuf, not "grpc"/],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', /number of milliseconds/],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', /must list headers/],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%0d%0ab', /must list headers/],
  ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/nowhere.pem', /can’t be read \(ENOENT\)/],
  ['OTEL_RESOURCE_ATTRIBUTES', 'production', /must list attributes/],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /must be one of always_on/],
  ['OTEL_TRACES_SAMPLER_ARG', '10%', /share from 0 to 1/],
  ['OTEL_TRACES_SAMPLER_ARG', '2', /share from 0 to 1/],
  ['OTEL_TRACES_EXPORTER', 'zipkin', /must be one of otlp, none/],
];

for (const [name, value, message] of refused)
  test(`${name}=${value} is refused at the start`, () => {
    assert.throws(
      () => readConfig({ ...endpoint, [name]: value }),
      (error: Error) => message.test(error.message) && !error.message.includes('secret@'),
    );
  });

test('a misspelled name of a known setting is pointed out', () => {
  const { settingWarnings } = readConfig({ OTEL_EXPORTER_OTLP_ENDPIONT: 'http://127.0.0.1:4318' });
  assert.deepEqual(settingWarnings, [
    'OTEL_EXPORTER_OTLP_ENDPIONT isn’t a setting and has no effect. Did you mean OTEL_EXPORTER_OTLP_ENDPOINT?',
  ]);
});

#!/usr/bin/env node
import process from 'node:process';
import { parseArgs } from 'node:util';
import { apiKeyOf, ManagementConnection, TypesFailure } from './management-connection.ts';
import { readPublishedShapes } from './read-published-shapes.ts';
import { type Output, readOpenapiFile, saveTypes } from './save-types.ts';

const help = `Usage: signalpost-client types --url <url> | --openapi <file> [--out <file>] [--check]

Writes TypeScript types of your account's published templates. SIGNALPOST_API_KEY (or SIGNALPOST_KEY) must be an API
key with the scope templates:read.

  --url <url>       address of the service; default: SIGNALPOST_URL
  --openapi <file>  OpenAPI document to read instead, written by an earlier run
  --out <file>      file to write, such as signalpost-templates.d.ts, or an OpenAPI document if it ends in .json; default: standard output
  --check           compare the file instead of writing it: exits with 1 if it’s out of date, and says what changed
`;

const terminal: Output = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

async function runTypes(args: readonly string[]): Promise<number> {
  const options = {
    url: { type: 'string' },
    openapi: { type: 'string' },
    out: { type: 'string' },
    check: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  let parsed: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new TypesFailure(`${(error as Error).message}\n\n${help}`);
  }
  const { values, positionals } = parsed;
  if (values.help === true) {
    terminal.out(help);
    return 0;
  }
  if (positionals.length !== 1 || positionals[0] !== 'types') throw new TypesFailure(help);
  if (values.openapi !== undefined)
    return await saveTypes(await readOpenapiFile(values.openapi), values, terminal);
  const url = values.url ?? process.env.SIGNALPOST_URL;
  if (url === undefined) throw new TypesFailure('--url is required: the address of the service');
  const service = new ManagementConnection(url, apiKeyOf(process.env));
  return await saveTypes(await readPublishedShapes(service), values, terminal);
}

try {
  process.exitCode = await runTypes(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TypesFailure)) throw error;
  process.stderr.write(`signalpost-client: ${error.message.trimEnd()}\n`);
  process.exitCode = 1;
}

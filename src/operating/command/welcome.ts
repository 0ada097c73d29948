import { isAbsolute, join, relative } from 'node:path';
import { isSetUpOpen } from '../../accounts/access/operator-store.ts';
import { listOperators } from '../../accounts/account/person-store.ts';
import { createOneTimeLink } from '../../accounts/sign-in/one-time-link.ts';
import { type Database, describeServer } from '../../base/database/open-database.ts';
import { readSmtpServers } from '../../sending/delivery/smtp-server-settings.ts';
import type { Config } from '../config/config.ts';
import { readReleaseVersion } from './read-version.ts';
import type { CommandShell } from './shell.ts';

interface WelcomeFacts {
  readonly config: Config;
  /** Local URL of the service. */
  readonly url: string;
  /** Whether the demo account exists. */
  readonly demo: boolean;
  /** False for a data folder from before 0.2.0: the first message then requires creating a key. */
  readonly hasDemoKey: boolean;
  readonly links: StartLinks;
  /** How people call the command line here. */
  readonly program: string;
}

/** What `start` prints once the service is ready: its URLs, and how to send a first message with one call. */
export async function welcome(facts: WelcomeFacts): Promise<string> {
  const { config, url, demo, hasDemoKey, links, program } = facts;
  const database =
    config.databaseUrl === undefined
      ? `embedded PostgreSQL in ${shorten(join(config.dataDir, 'database'))}`
      : describeServer({ url: config.databaseUrl });
  const lines = [
    `Signalpost ${await readReleaseVersion()} is ready.`,
    '',
    `  Service    ${url}`,
    `  Console    ${url}/console`,
    `  API        ${url}/docs`,
    ...(config.publicUrl === undefined ? [] : [`  Public     ${config.publicUrl}`]),
    `  Mail       ${describeDelivery(config)}`,
    `  Database   ${database}`,
    `  Data       ${shorten(config.dataDir)}`,
    '',
  ];
  if (config.settingWarnings.length > 0)
    lines.push(
      'Check your settings:',
      '',
      ...config.settingWarnings.map((line) => `  ${line}`),
      '',
    );
  lines.push(...describeLinks(links, program));
  if (demo) lines.push(...firstMessage(config, url, hasDemoKey ? undefined : program));
  return `${lines.join('\n')}\n`;
}

function describeLinks({ setUp, inbox, lacksOperator }: StartLinks, program: string): string[] {
  const lines: string[] = [];
  if (setUp !== undefined)
    lines.push('Start here, and make yourself the owner:', '', `  ${setUp}`, '');
  if (inbox !== undefined) lines.push('Open the inbox:', '', `  ${inbox}`, '');
  if (lines.length > 0) {
    const names = [setUp && 'set-up-link', inbox && 'inbox-link'].filter(Boolean);
    const commands = names.map((name) => `${program} ${name}`).join(' or ');
    lines.push(`Each link works once, within a day. For a new one: ${commands}`, '');
  }
  if (lacksOperator) {
    lines.push(
      'This installation has no operator. To make a user its operator:',
      '',
      `  ${program} operator add EMAIL`,
      '',
    );
  }
  return lines;
}

function describeDelivery(config: Config): string {
  if (config.delivery === 'inbox') return 'stays on this machine, in the inbox';
  const redirected =
    config.deliveryRedirect === undefined ? '' : ', redirected by DELIVERY_REDIRECT';
  if (config.delivery === 'direct')
    return `is delivered directly to the recipients’ servers${redirected}`;
  const relays = readSmtpServers(config.smtpUrl ?? '').map(({ host, port }) => `${host}:${port}`);
  return `goes to the relay ${relays.join(', else ')}${redirected}`;
}

/** @param keyProgram the command line, which must create the key first */
function firstMessage(config: Config, url: string, keyProgram: string | undefined): string[] {
  const readInbox =
    config.delivery === 'inbox'
      ? [
          'Then open the inbox in the browser, or read it here:',
          '',
          `  curl -s -H "Authorization: Bearer $INBOX_TOKEN" ${url}/inbox/api/messages`,
          '',
        ]
      : [];
  return [
    'Or send a message of the demo account from another terminal in this folder:',
    '',
    `  . ${shorten(join(config.dataDir, 'demo.env'))}`,
    ...(keyProgram === undefined
      ? []
      : [`  DEMO_API_KEY=$(${keyProgram} key create 1000 --name Demo --scope messages:send)`]),
    '',
    `  curl -s ${url}/ete/v1/email/1000/receipt \\`,
    '    -H "Authorization: Bearer $DEMO_API_KEY" -H "Content-Type: application/json" \\',
    `    -d '{"envelope":{"toAddress":"ada@customer.example"},`,
    `         "content":{"personalizationDataMap":{"First Name":"Ada","Order Number":"A-1001",`,
    `           "Items":[{"Name":"Espresso beans, 1 kg","Price":"24.90"}],"Total":"24.90"}},`,
    `         "metadata":{"transactional":true,"externalId":"A-1001"},`,
    `         "actions":{"trackOpens":false,"trackClicks":false}}'`,
    '',
    ...readInbox,
  ];
}

/** How people call the command line in the folder where this process was started: in a checkout, by npx, or as installed. */
export function programName(environment: CommandShell['environment']): string {
  if (import.meta.filename.endsWith('.ts')) return 'bin/signalpost';
  return environment.npm_command === 'exec' ? 'npx signalpost' : 'signalpost';
}

/** Shortens a path to what a person would type in this folder. */
function shorten(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') || isAbsolute(near) ? path : `./${near}`;
}

/** Links printed at startup. Connecting from the same machine grants no access without them. */
interface StartLinks {
  /** Undefined if the installation already has its owner. */
  readonly setUp: string | undefined;
  /** Undefined if mail is not captured. */
  readonly inbox: string | undefined;
  /** The installation has no operator, and no link creates one. */
  readonly lacksOperator: boolean;
}

/** @param serviceUrl the public base URL */
export async function createStartLinks(
  database: Database,
  config: Config,
  serviceUrl: string,
): Promise<StartLinks> {
  const open = await isSetUpOpen(database.kysely);
  return {
    setUp: open ? await createOneTimeLink(database, 'set-up', serviceUrl) : undefined,
    inbox:
      config.delivery === 'inbox'
        ? await createOneTimeLink(database, 'inbox', serviceUrl)
        : undefined,
    lacksOperator: !open && (await listOperators(database.kysely)).length === 0,
  };
}

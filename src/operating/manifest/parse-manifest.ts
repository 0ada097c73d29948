import { isMap, isNode, LineCounter, parseDocument } from 'yaml';
import { buildManifest } from './build-manifest.ts';
import { checkSchema } from './check-schema.ts';
import { CompiledContents, resolveCompiledContent } from './compiled-contents.ts';
import type { Manifest, ManifestUser } from './manifest.ts';
import { ManifestFiles, type ManifestText } from './manifest-files.ts';
import {
  formatPath,
  type Locate,
  ManifestError,
  type ManifestPath,
  maxProblems,
  ProblemCollector,
} from './manifest-problems.ts';
import { mapTexts } from './map-texts.ts';

/**
 * Parses a manifest: reads YAML or JSON, substitutes environment variables, validates the schema, reads files, addresses and
 * URLs, and checks for duplicates.
 * @throws ManifestError with every problem that can be found without an installation, including those of template content
 */
export async function parseManifest(
  text: ManifestText,
  environment: EnvironmentVariables,
): Promise<Manifest> {
  const { manifest, problems } = await readManifest(text, environment);
  if (!problems.isEmpty) await checkTemplates(manifest, problems);
  problems.throwIfAny();
  return manifest;
}

/**
 * Parses only the templates of a manifest, so that secrets of its other parts aren't needed.
 * @throws ManifestError
 */
export async function readManifestTemplates(
  text: ManifestText,
  environment: EnvironmentVariables,
): Promise<Manifest> {
  const { manifest, problems } = await readManifest(text, environment, templatesOf);
  problems.throwIfAny();
  return manifest;
}

/** @param select the part to read */
async function readManifest(
  { text, folder }: ManifestText,
  environment: EnvironmentVariables,
  select = (value: unknown) => value,
): Promise<{ readonly manifest: Manifest; readonly problems: ProblemCollector }> {
  const { value, locate } = parseYaml(text);
  const problems = new ProblemCollector(locate);
  const filled = substituteEnvironment(select(value), environment, problems);
  problems.nextStep();
  const raw = checkSchema(filled, problems);
  if (raw === undefined) throw problems.toError();
  problems.nextStep();
  const files = new ManifestFiles(folder);
  const manifest = await buildManifest(raw, locate, { files, problems });
  checkDuplicates(manifest, problems);
  return { manifest, problems };
}

/** Compiles all templates of a manifest that won't be applied; an apply only compiles new content. */
async function checkTemplates({ accounts }: Manifest, problems: ProblemCollector): Promise<void> {
  problems.nextStep();
  const contents = new CompiledContents();
  for (const { templates } of accounts) {
    await contents.compile(templates);
    for (const template of templates) resolveCompiledContent(template, contents, problems);
  }
}

function templatesOf(value: unknown): unknown {
  const { accounts } = (value ?? {}) as { readonly accounts?: unknown };
  if (!Array.isArray(accounts)) return value;
  return {
    accounts: accounts.map((account: unknown) => {
      if (typeof account !== 'object' || account === null) return account;
      const { id, name, templates } = account as Readonly<Record<string, unknown>>;
      return Object.fromEntries(
        Object.entries({ id, name, templates }).filter(([, member]) => member !== undefined),
      );
    }),
  };
}

interface ParsedYaml {
  readonly value: unknown;
  readonly locate: Locate;
}

/**
 * Parses YAML 1.2, which includes JSON, and keeps the line of every node.
 * @throws ManifestError if it is neither
 */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const locate: Locate = (path) => {
    const offset = offsetOf(document, path);
    return offset === undefined ? undefined : lineAt(offset);
  };
  const [first] = document.errors;
  if (first !== undefined) {
    // After a syntax error the rest can't be trusted; duplicate members don't affect it.
    const duplicates = document.errors
      .filter(({ code }) => code === 'DUPLICATE_KEY')
      .slice(0, maxProblems);
    throw new ManifestError(
      (first.code === 'DUPLICATE_KEY' ? duplicates : [first]).map(({ code, message, pos }) => ({
        path: '',
        line: lineAt(pos[0]),
        message: describe(code, message),
      })),
    );
  }
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), locate };
  } catch {
    // The library limits alias expansion to stop “billion laughs” attacks.
    const problems = new ProblemCollector(locate);
    problems.add([], 'uses too many aliases (*name), or an undefined one');
    throw problems.toError();
  }
}

function describe(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'contains more than one document';
  if (code === 'DUPLICATE_KEY') return 'contains a duplicate member';
  return `is neither YAML nor JSON: ${message.split('\n')[0]}`;
}

type Document = ReturnType<typeof parseDocument>;

/** The position of the member's name or the entry, or of its nearest existing parent. */
function offsetOf(document: Document, path: ManifestPath): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const around = document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    if (isMap(around)) {
      const pair = around.items.find(({ key }) => isNode(key) && String(key) === String(last));
      if (pair !== undefined && isNode(pair.key)) return pair.key.range?.[0];
    }
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node)) return node.range?.[0];
  }
  return undefined;
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Matches `$${`, then a complete reference, then an incomplete one. */
const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

/**
 * Replaces `${NAME}` with the environment variable in every string of a parsed manifest, except member names; `$${` is
 * a literal `${`. An unset or empty variable is a problem.
 */
function substituteEnvironment(
  value: unknown,
  environment: EnvironmentVariables,
  problems: ProblemCollector,
): unknown {
  return mapTexts(value, (text, path) =>
    text.replace(reference, (whole, name: string | undefined) => {
      if (whole === '$${') return '${';
      if (name === undefined) {
        problems.add(path, 'contains an invalid ${ reference; write $${ for a literal ${');
        return whole;
      }
      const found = environment[name];
      if (found !== undefined && found !== '') return found;
      problems.add(path, `requires the environment variable ${name}, which isn’t set`);
      return whole;
    }),
  );
}

/** Reports duplicate resources and contradictory data about a person. */
function checkDuplicates({ accounts }: Manifest, problems: ProblemCollector): void {
  const ofInstallation = refuseDuplicates(problems);
  for (const account of accounts) {
    ofInstallation('account', account.id, [...account.path, 'id']);
    for (const { clientId, path } of account.integrations)
      ofInstallation('integration', clientId, [...path, 'clientId']);
    const ofAccount = refuseDuplicates(problems);
    for (const { email, path } of account.users) ofAccount('user', email, [...path, 'email']);
    for (const { address, path } of account.senders)
      ofAccount('sender', address, [...path, 'address']);
    for (const name of ['templates', 'lists', 'outboxSources'] as const)
      for (const { id, path } of account[name]) ofAccount(name, id, [...path, 'id']);
  }
  checkPeople(
    accounts.flatMap((account) => account.users),
    problems,
  );
}

/** Returns a function that reports each resource that it has seen before. */
function refuseDuplicates(problems: ProblemCollector) {
  const seen = new Map<string, ManifestPath>();
  return (kind: string, id: string, path: ManifestPath): void => {
    const key = `${kind} ${id}`;
    const before = seen.get(key);
    if (before === undefined) seen.set(key, path);
    else problems.add(path, `duplicates ${formatPath(before)}`);
  };
}

/** People are global: several accounts can list a person, but only with the same name and password. */
function checkPeople(users: readonly ManifestUser[], problems: ProblemCollector): void {
  for (const member of ['name', 'password', 'operator'] as const) {
    const first = new Map<string, ManifestUser>();
    for (const user of users) {
      if (user[member] === undefined) continue;
      const before = first.get(user.email);
      if (before === undefined) first.set(user.email, user);
      else if (before[member] !== user[member]) {
        const where = formatPath([...before.path, member]);
        problems.add([...user.path, member], `differs from ${where} for the same person`);
      }
    }
  }
}

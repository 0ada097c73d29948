import { isMap, isNode, LineCounter, parseDocument } from 'yaml';
import type { ManifestPath } from './manifest-path.ts';
import { type Locate, ManifestError, maxProblems, ProblemCollector } from './manifest-problems.ts';

interface ParsedYaml {
  readonly value: unknown;
  readonly locate: Locate;
}

/**
 * Reads YAML 1.2, of which JSON is a part, and remembers on which line everything stands.
 * @throws ManifestError where it is neither
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
    // What follows text that cannot be read may be sound; members that stand twice hide nothing.
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
    // The library counts what aliases expand to and gives up on documents made to explode.
    const problems = new ProblemCollector(locate);
    problems.add([], 'uses its aliases (*name) too often, or one that is not defined');
    problems.throwIfAny();
    throw new Error('unreachable');
  }
}

function describe(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'holds more than one document';
  if (code === 'DUPLICATE_KEY') return 'names a member twice';
  return `is neither YAML nor JSON: ${message.split('\n')[0]}`;
}

type Document = ReturnType<typeof parseDocument>;

/** Where the member's name stands, or the entry, or the nearest thing around it that is there. */
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

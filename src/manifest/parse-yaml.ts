import { isMap, isNode, LineCounter, parseDocument } from 'yaml';
import type { ManifestPath } from './manifest-path.ts';
import { type Locate, ManifestError, maxProblems, ProblemCollector } from './manifest-problems.ts';

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
    problems.throwIfAny();
    throw new Error('unreachable');
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

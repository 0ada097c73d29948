import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';
import { findTables } from './find-tables.ts';

const source = join(import.meta.dirname, '../../../src');

/** An SQL statement as it is written in a store, with its fragments in place and `$` for every value. */
export interface WrittenStatement {
  /** Below src. */
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** Whether it is part of a statement that is put together elsewhere. */
  readonly fragment: boolean;
}

/** A node of the syntax tree (https://github.com/estree/estree), with the nodes around it. */
interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  // biome-ignore lint/suspicious/noExplicitAny: the members depend on the type
  readonly [member: string]: any;
}

interface SourceFile {
  readonly name: string;
  readonly text: string;
  readonly program: SyntaxNode;
  readonly parents: ReadonlyMap<SyntaxNode, SyntaxNode>;
  readonly nodes: readonly SyntaxNode[];
}

const value = ' $ ';
const verb =
  /^\s*(with|select|insert|update|delete|merge|truncate|lock|copy|create|alter|drop|analyze|vacuum|cluster)\b/i;
const builderStarts = new Set(['selectFrom', 'insertInto', 'updateTable', 'deleteFrom']);
const builderJoins = new Set(['innerJoin', 'leftJoin', 'using', 'from']);
const maxDepth = 12;

/**
 * Reads every statement of the stores: SQL texts, and the tables and accounts that calls of the query builder name. Fragments
 * are in the statement that contains them, or separate if their place can't be read from the source.
 */
export async function readStatements(): Promise<readonly WrittenStatement[]> {
  const files = new Map<string, SourceFile>();
  for await (const name of glob('**/*-{store,sql}.ts', { cwd: source }))
    files.set(name, parse(name));
  const reader = new StatementReader(files);
  return reader.read();
}

function parse(name: string): SourceFile {
  const text = readFileSync(join(source, name), 'utf8');
  const program = parseSync(name, text).program as unknown as SyntaxNode;
  const parents = new Map<SyntaxNode, SyntaxNode>();
  const nodes: SyntaxNode[] = [];
  const visit = (node: SyntaxNode): void => {
    nodes.push(node);
    for (const member of Object.values(node))
      for (const child of Array.isArray(member) ? member : [member]) {
        if (typeof child?.type !== 'string') continue;
        parents.set(child, node);
        visit(child);
      }
  };
  visit(program);
  return { name, text, program, parents, nodes };
}

class StatementReader {
  readonly #files: Map<string, SourceFile>;
  /** Templates that are part of a statement. */
  readonly #used = new Set<SyntaxNode>();

  constructor(files: Map<string, SourceFile>) {
    this.#files = files;
  }

  read(): WrittenStatement[] {
    const statements: WrittenStatement[] = [];
    for (const file of this.#files.values())
      for (const node of file.nodes) {
        const text = this.#statementOf(file, node);
        if (text !== undefined) statements.push(written(file, node, text, false));
      }
    for (const file of this.#files.values())
      for (const node of file.nodes)
        if (isUnusedFragment(file, node, this.#used))
          statements.push(
            written(file, node, this.#render(file, node, isSqlTemplate(node), 0), true),
          );
    return statements;
  }

  #statementOf(file: SourceFile, node: SyntaxNode): string | undefined {
    if (isBuilderStart(node)) {
      const chain = wholeChain(file, node);
      return hasOuterBuilder(file, chain) ? undefined : this.#renderChain(file, chain);
    }
    if (isSqlTemplate(node)) {
      if (!verb.test(node.quasi.quasis[0].value.raw) || isNestedStatement(file, node))
        return undefined;
      return this.#render(file, node, true, 0);
    }
    const parent = file.parents.get(node);
    if (node.type === 'TemplateLiteral' && parent?.type !== 'TaggedTemplateExpression')
      return verb.test(node.quasis[0].value.raw) ? this.#render(file, node, false, 0) : undefined;
    if (node.type === 'Literal' && typeof node.value === 'string' && verb.test(node.value))
      return this.#render(file, node, false, 0);
    return undefined;
  }

  /** The text of an expression within a statement. @param bound values are sent separately, so a string is one of them */
  #render(
    file: SourceFile,
    node: SyntaxNode | null | undefined,
    bound: boolean,
    depth: number,
  ): string {
    if (node === null || node === undefined || depth > maxDepth) return value;
    const inner = (child: SyntaxNode, ofBound = bound) =>
      this.#render(file, child, ofBound, depth + 1);
    switch (node.type) {
      case 'TaggedTemplateExpression':
        this.#used.add(node);
        return this.#renderTemplate(node.quasi, (child) => inner(child, true));
      case 'TemplateLiteral':
        this.#used.add(node);
        return bound ? value : this.#renderTemplate(node, (child) => inner(child, false));
      case 'Literal':
        this.#used.add(node);
        return bound || typeof node.value !== 'string' ? value : node.value;
      case 'ConditionalExpression':
        return `${inner(node.consequent)} ${inner(node.alternate)}`;
      case 'LogicalExpression':
        return `${inner(node.left)} ${inner(node.right)}`;
      case 'ParenthesizedExpression':
      case 'TSAsExpression':
      case 'TSNonNullExpression':
        return inner(node.expression);
      case 'Identifier':
        return this.#renderName(file, node, bound, depth);
      case 'CallExpression':
        return this.#renderCall(file, node, bound, depth);
      default:
        return value;
    }
  }

  #renderTemplate(template: SyntaxNode, render: (child: SyntaxNode) => string): string {
    return template.quasis
      .map((quasi: SyntaxNode, index: number) => {
        const expression = template.expressions[index];
        return quasi.value.raw + (expression === undefined ? '' : render(expression));
      })
      .join('');
  }

  #renderName(file: SourceFile, node: SyntaxNode, bound: boolean, depth: number): string {
    const found = this.#resolve(file, node, node.name);
    if (found === undefined) return value;
    return isFunction(found.node)
      ? this.#renderBody(found.file, found.node, depth)
      : this.#render(found.file, found.node, bound, depth + 1);
  }

  #renderCall(file: SourceFile, node: SyntaxNode, bound: boolean, depth: number): string {
    const { callee } = node;
    const args = node.arguments as SyntaxNode[];
    if (callee.type === 'MemberExpression') {
      if (
        callee.object.name === 'sql' &&
        ['raw', 'id', 'ref', 'table'].includes(callee.property.name)
      )
        return this.#render(file, args[0], false, depth + 1);
      if (callee.object.name === 'sql' && callee.property.name === 'join')
        return this.#renderBody(file, args[0] ?? node, depth);
      if (callee.property.name === 'join' || callee.property.name === 'map')
        return this.#renderBody(file, node, depth);
      return value;
    }
    const found = callee.type === 'Identifier' ? this.#resolve(file, node, callee.name) : undefined;
    if (found === undefined) return value;
    const given = args.map((argument) =>
      ['TaggedTemplateExpression', 'CallExpression'].includes(argument.type)
        ? this.#render(file, argument, bound, depth + 1)
        : '',
    );
    return `${this.#renderBody(found.file, found.node, depth)} ${given.join(' ')}`;
  }

  /** All SQL within a function, or what else builds a fragment. */
  #renderBody(file: SourceFile, body: SyntaxNode, depth: number): string {
    const texts = file.nodes
      .filter(
        (node) =>
          node.start >= body.start &&
          node.end <= body.end &&
          (isSqlTemplate(node) ||
            (node.type === 'TemplateLiteral' &&
              file.parents.get(node)?.type !== 'TaggedTemplateExpression')),
      )
      .map((node) => this.#render(file, node, isSqlTemplate(node), depth + 1));
    return texts.length === 0 ? value : ` ${texts.join(' ')} `;
  }

  /** What a name stands for: the value of a constant, or a function. */
  #resolve(
    file: SourceFile,
    from: SyntaxNode,
    name: string,
  ): { readonly file: SourceFile; readonly node: SyntaxNode } | undefined {
    let scope: SyntaxNode | undefined = from;
    while (scope !== undefined) {
      if (
        isFunction(scope) &&
        scope.params.some((param: SyntaxNode) =>
          file.text.slice(param.start, param.end).includes(name),
        )
      )
        return undefined;
      if (isFunction(scope) || scope === file.program) {
        const found = declarationIn(file, scope, name);
        if (found !== undefined) return { file, node: found };
      }
      scope = file.parents.get(scope);
    }
    const imported = file.nodes.find(
      (node) => node.type === 'ImportSpecifier' && node.local.name === name,
    );
    if (imported === undefined) return undefined;
    const path = file.parents.get(imported)?.source.value as string;
    const target = this.#fileOf(normalize(join(dirname(file.name), path)));
    const node = target && declarationIn(target, target.program, imported.imported.name);
    return target && node && { file: target, node };
  }

  #fileOf(name: string): SourceFile | undefined {
    if (name.startsWith('..')) return undefined;
    const file = this.#files.get(name) ?? (name.endsWith('.ts') ? parse(name) : undefined);
    return file;
  }

  /** The tables and the account that a chain of the query builder names, in the form of SQL. */
  #renderChain(file: SourceFile, chain: SyntaxNode): string {
    const parts: string[] = [];
    for (const node of file.nodes) {
      if (node.start < chain.start || node.end > chain.end) continue;
      if (isSqlTemplate(node)) parts.push(this.#render(file, node, true, 0));
      if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') continue;
      const method = node.callee.property.name;
      const [first, second] = node.arguments as SyntaxNode[];
      const literal = first?.type === 'Literal' ? String(first.value) : undefined;
      if (builderStarts.has(method)) parts.unshift(`${startOf(method)} ${literal ?? '$'}`);
      else if (builderJoins.has(method) && literal !== undefined) parts.push(`join ${literal} on`);
      else if (method === 'where' && literal !== undefined && second?.value === '=')
        parts.push(`where ${literal} = $`);
      else if (method === 'values' && file.text.slice(node.start, node.end).includes('account_id'))
        parts.push('values account_id = $');
    }
    return parts.join(' ');
  }
}

function startOf(method: string): string {
  return (
    {
      selectFrom: 'select from',
      insertInto: 'insert into',
      updateTable: 'update',
      deleteFrom: 'delete from',
    }[method] ?? ''
  );
}

function written(
  { name, text }: SourceFile,
  node: SyntaxNode,
  statement: string,
  fragment: boolean,
): WrittenStatement {
  const line = text.slice(0, node.start).split('\n').length;
  return { file: name, line, text: statement.replaceAll(/\s+/g, ' ').trim(), fragment };
}

function isSqlTemplate(node: SyntaxNode): boolean {
  if (node.type !== 'TaggedTemplateExpression') return false;
  return node.tag.name === 'sql' || ['query', 'countChanged'].includes(node.tag.callee?.name);
}

/** Whether a text with a table is in no statement that this reader has put together. */
function isUnusedFragment(
  file: SourceFile,
  node: SyntaxNode,
  used: ReadonlySet<SyntaxNode>,
): boolean {
  if (used.has(node)) return false;
  if (isSqlTemplate(node)) return true;
  const parent = file.parents.get(node);
  if (node.type === 'TemplateLiteral')
    return (
      parent?.type !== 'TaggedTemplateExpression' &&
      node.quasis.some((quasi: SyntaxNode) => findTables(quasi.value.raw).size > 0)
    );
  return (
    node.type === 'Literal' && typeof node.value === 'string' && findTables(node.value).size > 0
  );
}

function isFunction(node: SyntaxNode): boolean {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(
    node.type,
  );
}

function isBuilderStart(node: SyntaxNode): boolean {
  return (
    node.type === 'CallExpression' &&
    node.callee.type === 'MemberExpression' &&
    builderStarts.has(node.callee.property.name)
  );
}

/** The call that ends a chain: `kysely.selectFrom(…).where(…).execute()`. */
function wholeChain(file: SourceFile, start: SyntaxNode): SyntaxNode {
  let node = start;
  for (;;) {
    const member = file.parents.get(node);
    const call = member && file.parents.get(member);
    if (
      member?.type !== 'MemberExpression' ||
      member.object !== node ||
      call?.type !== 'CallExpression'
    )
      return node;
    node = call;
  }
}

function hasOuterBuilder(file: SourceFile, chain: SyntaxNode): boolean {
  return file.nodes.some(
    (node) =>
      isBuilderStart(node) &&
      !(node.start >= chain.start && node.end <= chain.end) &&
      wholeChain(file, node).start <= chain.start &&
      wholeChain(file, node).end >= chain.end,
  );
}

/** Whether a template is in an expression of another one, which contains it then. */
function isNestedStatement(file: SourceFile, node: SyntaxNode): boolean {
  for (let outer = file.parents.get(node); outer !== undefined; outer = file.parents.get(outer)) {
    if (isFunction(outer)) return false;
    if (isSqlTemplate(outer)) return true;
  }
  return false;
}

/** The value or function that is declared directly in a scope. */
function declarationIn(file: SourceFile, scope: SyntaxNode, name: string): SyntaxNode | undefined {
  for (const node of file.nodes) {
    if (node.start < scope.start || node.end > scope.end) continue;
    const isConstant = node.type === 'VariableDeclarator' && node.id.name === name;
    const isNamed = node.type === 'FunctionDeclaration' && node.id?.name === name;
    if ((isConstant || isNamed) && scopeOf(file, node) === scope)
      return isConstant ? (node.init ?? undefined) : node;
  }
  return undefined;
}

function scopeOf(file: SourceFile, node: SyntaxNode): SyntaxNode {
  for (let outer = file.parents.get(node); outer !== undefined; outer = file.parents.get(outer))
    if (isFunction(outer)) return outer;
  return file.program;
}

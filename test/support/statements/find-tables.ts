import { type TableKind, tableKinds } from './table-kinds.ts';

const table = '"?([a-z_]+)"?(?![\\w"])';
/** After `into`, a parenthesis begins the columns; elsewhere, it makes the name a function. */
const places = new RegExp(
  `\\b(?:(?:from|join|update|using|table)\\s+(?:only |lateral )?${table}(?!\\s*\\()|into\\s+${table})`,
  'gi',
);
const alias = '(?:\\s+(?:as\\s+)?[a-z]\\w*)?';
const list = new RegExp(
  `\\b(?:from|using)\\s+"?[a-z_]+"?${alias}((?:\\s*,\\s*"?[a-z_]+"?${alias}(?=\\s*(?:,|\\)|$|where\\b|cross\\b|join\\b|left\\b)))+)`,
  'gi',
);
const named =
  /(?:\bwith(?: recursive)?|,)\s+"?([a-z_]+)"?(?:\s*\([^()]*\))?\s+as\s+(?:(?:not )?materialized )?\(/gi;
/** A table whose name is put into the statement. `distinct from` and `substring(… from …)` are followed by values. */
const unreadable =
  /(?<!\bdistinct |\bsubstring\([^()]* )\b(?:from|join|update|using|into)\s+\$(?! ?::| for\b)/i;

/** The tables of the service that a statement reads or writes, without the names that it gives itself. */
export function findTables(statement: string): ReadonlySet<string> {
  const own = new Set([...statement.matchAll(named)].map(([, name = '']) => name));
  const found = [
    ...[...statement.matchAll(places)].map(([, name, written]) => name ?? written ?? ''),
    ...[...statement.matchAll(list)].flatMap(([, others = '']) =>
      [...others.matchAll(/,\s*"?([a-z_]+)/g)].map(([, name = '']) => name),
    ),
  ];
  return new Set(found.filter((name) => name in tableKinds && !own.has(name)));
}

/** Whether a statement has a table whose name its text doesn't say. */
export function hasUnreadableTable(statement: string): boolean {
  return unreadable.test(statement);
}

/** Whether a statement has tables of a kind. */
export function hasKind(statement: string, kind: TableKind): boolean {
  return [...findTables(statement)].some((name) => tableKinds[name] === kind);
}

/** True if a statement says with a value which account it is about. */
export function namesOneAccount(statement: string): boolean {
  return [
    /\baccount_id"? = \$/i,
    // The row of the account itself.
    /\b(?:account|a)\.id = \$|\b(?:from|update) "?account"? (?:set .* )?where "?id"? = \$/i,
    /\binsert into "?\w+"? (?:as \w+ )?\(account_id\b[^()]*\)\s+values \( ?\$/i,
    /^insert into "?\w+"? (?:as \w+ )?\(account_id\b[^()]*\)\s+select (?:distinct (?:on \([^()]*\) )?)?\$ ?,/i,
  ].some((form) => form.test(statement));
}

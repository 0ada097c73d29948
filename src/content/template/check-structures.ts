import { isLonger } from '../../base/values/is-longer.ts';
import type { FieldIndex, IndexedField } from './field-index.ts';
import { isRecord } from './field-value.ts';
import {
  MAX_LIST_ITEMS,
  MAX_MEMBER_NAME_LENGTH,
  MAX_MEMBERS,
  MAX_STRUCTURED_BYTES,
  MAX_STRUCTURED_TEXT,
} from './template-limits.ts';

/** A value that isn't what its field is declared to be. */
export interface StructureProblem {
  /** In the map: `Items[3].Price`. */
  readonly place: string;
  readonly reason: string;
}

/** More problems than any response names. */
const maxProblems = 200;

/** Checks the values of a message's lists and objects, in one walk that stops at every limit. */
export class StructureChecker {
  readonly problems: StructureProblem[] = [];
  #bytes = 0;

  /** Checks the value of a field that is a list or an object. */
  check(name: string, field: IndexedField, value: unknown): void {
    const budget = { items: 0, root: name };
    this.#value(value, field, name, budget);
  }

  #value(
    value: unknown,
    field: IndexedField,
    place: string,
    budget: { items: number; readonly root: string },
  ): void {
    if (field.kind === 'object') {
      if (isRecord(value)) this.#record(value, field.fields, place, budget);
      else this.#add(place, 'must be an object');
      return;
    }
    if (!Array.isArray(value)) {
      this.#add(place, 'must be an array');
      return;
    }
    const before = budget.items;
    budget.items += value.length;
    if (budget.items > MAX_LIST_ITEMS) {
      if (before <= MAX_LIST_ITEMS) {
        const nested = place === budget.root ? '' : ', those of lists in its items included';
        this.#add(budget.root, `must not have more than ${MAX_LIST_ITEMS} items${nested}`);
      }
      return;
    }
    for (const [index, item] of value.entries()) {
      if (this.#isStopped) return;
      const itemPlace = `${place}[${index}]`;
      if (isRecord(item)) this.#record(item, field.fields, itemPlace, budget);
      else this.#add(itemPlace, 'must be an object');
    }
  }

  #record(
    record: Readonly<Record<string, unknown>>,
    fields: FieldIndex,
    place: string,
    budget: { items: number; readonly root: string },
  ): void {
    const members = Object.entries(record);
    if (members.length > MAX_MEMBERS) {
      this.#add(place, `must not have more than ${MAX_MEMBERS} members`);
      return;
    }
    for (const [name, value] of members) {
      if (this.#isStopped) return;
      if (isLonger(name, MAX_MEMBER_NAME_LENGTH)) {
        const shown = name.slice(0, 100).toWellFormed();
        const reason = `its name must not be longer than ${MAX_MEMBER_NAME_LENGTH} characters`;
        this.#add(`${place}.${shown}`, reason);
        continue;
      }
      this.#count(name, budget.root);
      const field = fields.get(name);
      if (field !== undefined && field.kind !== 'text')
        this.#value(value, field, `${place}.${name}`, budget);
      else if (typeof value === 'string') this.#count(value, budget.root);
      else this.#add(`${place}.${name}`, 'must be a string');
    }
  }

  get #isStopped(): boolean {
    return this.#bytes > MAX_STRUCTURED_BYTES || this.problems.length >= maxProblems;
  }

  #count(text: string, root: string): void {
    if (this.#bytes > MAX_STRUCTURED_BYTES) return;
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > MAX_STRUCTURED_BYTES)
      this.#add(
        root,
        `makes lists and objects together larger than ${MAX_STRUCTURED_TEXT}; send fewer or shorter values`,
      );
  }

  #add(place: string, reason: string): void {
    this.problems.push({ place, reason });
  }
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { csvLine } from '../../../src/base/values/csv-line.ts';
import { readContacts } from '../../../src/operating/manifest/read-contacts.ts';

function complaints(text: string): string[] {
  const found: string[] = [];
  const contacts = readContacts(Buffer.from(text), (message) => found.push(message));
  assert.equal(contacts === undefined, found.length > 0);
  return found;
}

test('RFC 4180: quotes, commas, line breaks and CRLF are read', () => {
  const text = 'Name,Email\r\n"Lovelace, ""Ada""\r\nCountess", Ada@Shop.test \r\n\r\n';
  const contacts = readContacts(Buffer.from(text), assert.fail);
  assert.deepEqual(contacts?.rows, [
    { email: 'ada@shop.test', fields: { Name: 'Lovelace, "Ada"\r\nCountess' } },
  ]);
});

test('the header row needs unique, non-empty columns including email', () => {
  assert.deepEqual(complaints(''), ['has no header row']);
  assert.deepEqual(complaints('name\nAda\n'), [
    'line 1: The file needs a column “email”. It has: name',
  ]);
  assert.deepEqual(complaints('email,,City\n'), ['line 1: Column 2 has no name in the header']);
  assert.deepEqual(complaints('email,City,City\n'), [
    'line 1: Two columns are named “City”. Rename one',
  ]);
  assert.deepEqual(complaints('email,Email\n'), [
    'line 1: Two columns are named “Email”. Rename one',
  ]);
  assert.match(complaints(`email${',x'.repeat(10_001)}\n`)[0] ?? '', /more than 10001 columns/);
  assert.deepEqual(complaints('email,Ci\0ty\n'), [
    'line 1: A column name contains a NUL character',
  ]);
  assert.deepEqual(complaints(`email,${'x'.repeat(201)}\n`), [
    'line 1: A column name is longer than 200 characters',
  ]);
});

test('a file that a spreadsheet saved in windows-1252, with semicolons, empty cells and padding, is read like an import', () => {
  const text =
    'E-Mail-Adresse; Ort ;;\r\n" Zo\xeb@Shop.test " ; "K\xf6ln; \x93Mitte\x94" ;;\r\n;;;\r\n';
  assert.deepEqual(readContacts(Buffer.from(text, 'latin1'), assert.fail)?.rows, [
    { email: 'zoë@shop.test', fields: { Ort: 'Köln; “Mitte”' } },
  ]);
});

test('an unclosed quote is rejected', () => {
  assert.match(complaints('email\n"ada@shop.test\n')[0] ?? '', /is not CSV/);
});

test('only the first invalid rows are reported, the rest are counted', () => {
  const found = complaints(`email\n${'nobody\n'.repeat(25)}`);
  assert.equal(found.length, 21);
  assert.equal(found[20], 'has 5 more invalid rows');
});

test('the hash is independent of row and column order', () => {
  const hash = (text: string) =>
    readContacts(Buffer.from(text), assert.fail)?.contentHash.toString('hex') ?? 'none';
  const one = hash('email,City\na@shop.test,Rome\nb@shop.test,\n');
  assert.equal(hash('email,City\r\nA@SHOP.test,Rome\r\n\r\nb@shop.test,""\r\n'), one);
  assert.equal(hash('email,City\nb@shop.test,\na@shop.test,Rome\n'), one);
  const two = hash('Name,email,City\nAnn,a@shop.test,Rome\n');
  assert.equal(hash('email,City,Name\na@shop.test,Rome,Ann\n'), two);
  assert.notEqual(hash('email,City,Name\na@shop.test,Ann,Rome\n'), two);
  assert.notEqual(hash('email,City\na@shop.test,Roma\nb@shop.test,\n'), one);
  assert.notEqual(hash('email,City\na@shop.test,Rome\n'), one);
});

test('arbitrary values are read as they were written, whatever a spreadsheet would do with them', () => {
  const sign = fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', ';', ',', '"', '\n', 'x');
  const value = fc
    .oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: sign, minLength: 1 }))
    .filter((text) => !/[\0\ufffd]/.test(text));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 20 }), (values) => {
      const lines = values.map((text, index) => csvLine([`p${index}@shop.test`, text]));
      const text = ['email,Note\r\n', ...lines].join('');
      const contacts = readContacts(Buffer.from(text), assert.fail);
      assert.deepEqual(
        contacts?.rows.map(({ fields }) => fields.Note),
        values,
      );
    }),
  );
});

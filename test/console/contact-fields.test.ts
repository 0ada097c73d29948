import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fieldsIn, rowsOf } from '../../console/src/list/contact-fields.ts';

test('the fields of a contact are the same after an edit that changes none', () => {
  const fields = {
    Address: 'Hauptstr. 1\n10115 Berlin\nc/o: Ann',
    'utm:source': 'ad',
    Note: ' keep ',
  };
  assert.deepEqual(fieldsIn(rowsOf(fields)), fields);
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string().filter((name) => name.trim() !== ''),
        fc.string(),
      ),
      (any) => assert.deepEqual({ ...fieldsIn(rowsOf(any)) }, { ...any }),
    ),
  );
});

test('an empty row is no field; a value without a name and a name used twice are errors', () => {
  assert.deepEqual(fieldsIn([{ name: '', value: '' }]), {});
  assert.throws(() => fieldsIn([{ name: ' ', value: 'Ann' }]), /Every value needs a field name/);
  const twice = [
    { name: 'Name', value: 'Ann' },
    { name: 'Name', value: 'Bob' },
  ];
  assert.throws(() => fieldsIn(twice), /Two fields are named Name/);
});

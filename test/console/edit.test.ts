import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EditConflict } from '../../console/src/api/if-unchanged.ts';
import { Edit, editedFields } from '../../console/src/form/edit.ts';

interface Stored {
  readonly name: string;
  readonly address: string;
}

const first: Stored = { name: 'Shop', address: 'a@shop.test' };

function editOf(stored = first) {
  return new Edit<Stored, Stored>(
    stored,
    (one) => one,
    () => undefined,
  );
}

/** Saves that end when the test says so. */
function heldSaves() {
  const sent: Stored[] = [];
  const held: PromiseWithResolvers<Stored>[] = [];
  return {
    sent,
    held,
    send({ values }: { values: Stored }) {
      const save = Promise.withResolvers<Stored>();
      sent.push(values);
      held.push(save);
      return save.promise;
    },
  };
}

test('what is typed while a save is under way stays unsaved, and the next save sends it', async () => {
  const edit = editOf();
  const { sent, held, send } = heldSaves();
  edit.change({ name: 'Shop 2' });
  const save = edit.save(send);
  edit.change({ name: 'Shop 2, typed on', address: 'b@shop.test' });
  held[0]?.resolve({ ...first, name: 'Shop 2' });
  await save;
  assert.deepEqual(edit.values, { name: 'Shop 2, typed on', address: 'b@shop.test' });
  assert.equal(edit.isChanged(), true);
  const second = edit.save(send);
  held[1]?.resolve(edit.values);
  await second;
  assert.deepEqual(sent, [{ ...first, name: 'Shop 2' }, edit.values]);
  assert.equal(edit.isChanged(), false);
});

test('a save during a save waits for it, and sends nothing if nothing was typed since', async () => {
  const edit = editOf();
  const { sent, held, send } = heldSaves();
  edit.change({ name: 'Twice' });
  const saves = [edit.save(send), edit.save(send), edit.save(send)];
  assert.equal(sent.length, 1);
  held[0]?.resolve({ ...first, name: 'Twice' });
  await Promise.all(saves);
  assert.equal(sent.length, 1);

  edit.change({ name: 'Thrice' });
  const failing = [edit.save(send), edit.save(send)];
  held[1]?.reject(new Error('no network'));
  assert.deepEqual(
    (await Promise.allSettled(failing)).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(sent.length, 2);
  assert.equal(edit.values.name, 'Thrice');
  assert.equal(edit.isSaving, false);
});

test('a reload of the page’s data shows in a form only while nothing is typed in it', () => {
  const edit = editOf();
  edit.follow({ ...first, name: 'Theirs' });
  assert.equal(edit.values.name, 'Theirs');
  edit.change({ address: 'mine@shop.test' });
  edit.follow({ name: 'Theirs again', address: 'theirs@shop.test' });
  assert.deepEqual(edit.values, { name: 'Theirs', address: 'mine@shop.test' });
  edit.reset();
  assert.deepEqual(edit.values, { name: 'Theirs again', address: 'theirs@shop.test' });
});

test('data that was read before a save doesn’t replace what was saved', async () => {
  const edit = editOf();
  edit.change({ name: 'Saved' });
  await edit.save(async ({ values }) => values);
  edit.follow({ ...first });
  assert.equal(edit.values.name, 'Saved');
  edit.follow({ ...first, name: 'Newer' });
  assert.equal(edit.values.name, 'Newer');
});

test('after a conflict, untouched fields take the current values, and the next save compares with these', async () => {
  const edit = editOf();
  const now = { name: 'Theirs', address: 'theirs@shop.test' };
  edit.change({ name: 'Mine' });
  const conflict = new EditConflict([{ name: 'name', seen: 'Shop', now: 'Theirs' }], now);
  await assert.rejects(
    edit.save(async () => {
      throw conflict;
    }),
  );
  assert.equal(edit.error, conflict);
  assert.deepEqual(edit.values, { name: 'Mine', address: 'theirs@shop.test' });
  await edit.save(async ({ values, seen }) => {
    assert.deepEqual(seen, now);
    return values;
  });
  assert.equal(edit.error, null);
});

test('edited fields are those whose values differ, at any depth; a removed one is undefined', () => {
  const seen = { a: [{ b: 1 }], c: 'x' as string | undefined, d: null as number | null };
  assert.deepEqual(editedFields(seen, { ...seen, a: [{ b: 1 }] }), {});
  assert.deepEqual(editedFields(seen, { a: [{ b: 2 }], c: undefined, d: 0 }), {
    a: [{ b: 2 }],
    c: undefined,
    d: 0,
  });
});

/** Lists, contacts and imports. */
export const listsTexts = {
  'lists.title': 'Lists',
  'lists.hint':
    'Your applications read these lists with GET /api/1/list. Messages aren’t sent to lists: each goes to one person.',
  'lists.add': 'New list',
  'lists.create': 'Create list',
  'lists.back': 'All lists',
  'lists.name': 'Name',
  'lists.id': 'List ID',
  'lists.idHint': 'Letters, digits, - and _.',
  'lists.folder': 'Folder',
  'lists.description': 'Description',
  'lists.size': 'Contacts',
  'lists.modified': 'Updated',
  'lists.none': 'No lists yet',
  'lists.noneHint': 'Create a list, then add contacts or import a CSV file.',
  'lists.removeTitle': 'Remove this list?',
  'lists.removeConsequence':
    'Its {count} contacts will be deleted. You can’t undo this, so export them first.',

  'contacts.title': 'Contacts',
  'contacts.count': '{count|1 contact|# contacts}',
  'contacts.add': 'Add a contact',
  'contacts.change': 'Edit contact',
  'contacts.email': 'Email address',
  'contacts.fields': 'Fields',
  'contacts.fieldsHint': 'One per line, as name: value.',
  'contacts.find': 'Address starts with',
  'contacts.export': 'Export CSV',
  'contacts.import': 'Import CSV',
  'contacts.importTitle': 'Import contacts',

  'import.file': 'CSV file',

  'contacts.importHint':
    'UTF-8, with a header row that includes email. Existing contacts get the fields from the file.',

  'import.choose': 'Choose a file',
  'import.start': 'Import',
  'import.running': '{share} of the file read, {rows} rows',
  'import.done': 'Done: {written|1 row|# rows} imported, {wrong|1 row|# rows} skipped.',
  'import.failed': 'The import stopped. Fix the file, then import it again.',

  'contacts.none': 'No contacts yet',
  'contacts.noneHint': 'Add a contact, or import a CSV file.',
  'contacts.noneFound': 'No contacts match your search',
  'contacts.noneFoundHint': 'Try a shorter search.',
} as const;

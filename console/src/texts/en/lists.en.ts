/** Lists, contacts and imports. */
export const listsTexts = {
  'lists.title': 'Lists',
  'lists.hint': 'Contacts that the account keeps.',
  'lists.add': 'New list',
  'lists.make': 'Create list',
  'lists.back': 'All lists',
  'lists.name': 'Name',
  'lists.id': 'List id',
  'lists.idHint': 'Letters, digits, - and _.',
  'lists.folder': 'Folder',
  'lists.description': 'Description',
  'lists.size': 'Contacts',
  'lists.modified': 'Changed',
  'lists.none': 'No lists yet',
  'lists.noneHint': 'Make a list, then add contacts or import a CSV file.',
  'lists.removeTitle': 'Remove this list?',
  'lists.removeConsequence':
    'Its {count} contacts are deleted. That cannot be taken back; export them first.',

  'contacts.title': 'Contacts',
  'contacts.count': '{count|One contact.|# contacts.}',
  'contacts.add': 'Add a contact',
  'contacts.change': 'Change the contact',
  'contacts.email': 'E-mail address',
  'contacts.fields': 'Fields',
  'contacts.fieldsHint': 'One on each line, as name: value.',
  'contacts.find': 'Address begins with',
  'contacts.export': 'Export CSV',
  'contacts.import': 'Import CSV',
  'contacts.importTitle': 'Import contacts',

  'import.file': 'CSV file',

  'contacts.importHint':
    'UTF-8, the first row names the columns, one of them email. Contacts that exist get the file’s fields.',

  'import.choose': 'Choose a file',
  'import.start': 'Import',
  'import.running': '{share} of the file read, {rows} rows',
  'import.done':
    'Done: {written|one row written|# rows written}, {wrong|one row|# rows} could not be used.',
  'import.failed': 'The import stopped. Mend the file, then import it again.',

  'contacts.none': 'No contacts yet',
  'contacts.noneHint': 'Add one by hand, or import a CSV file.',
  'contacts.noneFound': 'No address begins like this',
  'contacts.noneFoundHint': 'Try fewer letters.',
} as const;

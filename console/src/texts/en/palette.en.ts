/** The command palette and keyboard shortcuts. */
export const paletteTexts = {
  'palette.open': 'Go to…',
  'palette.title': 'Go to',
  'palette.hint': 'Search pages, actions, messages…',
  'palette.none': 'No matches.',
  'palette.searching': 'Searching…',
  'palette.pages': 'Pages',
  'palette.actions': 'Actions',
  'palette.templates': 'Templates',
  'palette.messages': 'Messages',
  'palette.newTemplate': 'Create template…',
  'palette.suppress': 'Suppress address…',
  'palette.newSender': 'Add sender…',
  'palette.newList': 'Create list…',
  'palette.sendTest': 'Send test of {name}…',
  'palette.searchMessages': 'Search messages for “{text}”',

  'shortcuts.title': 'Keyboard shortcuts',
  'shortcuts.palette': 'Go to anything',
  'shortcuts.help': 'Show these shortcuts',
  'shortcuts.close': 'Close',
  'shortcuts.pages': 'Go to a page',
} as const;

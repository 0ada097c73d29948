/** The audit log. */
export const auditTexts = {
  'audit.title': 'Audit log',
  'audit.hint': 'Who changed what, and when.',
  'audit.at': 'When',
  'audit.kind': 'What',
  'audit.who': 'Who',
  'audit.machine': 'a program',
  'audit.from': 'From',
  'audit.detail': 'Details',
  'audit.refused': 'refused',
  'audit.filter': 'Only of this kind',
  'audit.none': 'Nothing was changed yet',
  'audit.noneFound': 'Nothing of this kind',
  'audit.noneFoundHint': 'Kinds are names such as sender_changed; clear the field to see all.',
  'audit.noneHint': 'Every change of settings, and who made it, stands here.',
} as const;

/** Team and roles. */
export const team = {
  'team.title': 'Team',
  'team.hint': 'Who belongs to the account, and what they may do.',
  'team.add': 'Add a person',
  'team.name': 'Name',
  'team.nameHint': 'For people who are new here.',
  'team.email': 'E-mail address',
  'team.role': 'Role',
  'team.roleOf': 'Role of {name}',
  'team.signIn': 'Signs in with',
  'team.password': 'Password',
  'team.noPassword': 'Cannot sign in yet',
  'team.secondFactor': 'Password and second factor',
  'team.disabled': 'Disabled',
  'team.firstPassword': 'First password',
  'team.firstPasswordHint':
    'At least 12 characters. Left empty, the person sets one from the sign-in page.',
  'team.removeTitle': 'Take this person out of the account?',
  'team.removeConsequence':
    'The person can do nothing in this account any more. Other accounts stay.',
  'team.keys': 'Keep their {count|API key|# API keys} working: hand {count|it|them} over to me',
  'team.keysElse': 'Otherwise {count|it ends|they end}.',
  'team.keysEnd': '{count|One API key|# API keys} that they made will end.',
  'team.ownKeysEnd': '{count|One API key|# API keys} that you made will end.',
  'team.demoteTitle': 'Change the role of {name}?',
  'team.demote': 'Change role',

  'role.serviceHint':
    'For programs: sends email and reads message status. No access to the console.',
  'role.owner': 'Owner',
  'role.developer': 'Developer',
  'role.marketer': 'Marketer',
  'role.viewer': 'Viewer',
  'role.service': 'Service',
} as const;

/** SMTP submission. */
export const smtpTexts = {
  'smtp.hint':
    'For programs that can’t call the API: shops, forums, GitLab, printers. Messages are checked, sent and reported like all others.',
  'smtp.settings': 'Settings',
  'smtp.host': 'Host',
  'smtp.startTlsPort': 'Port with STARTTLS',
  'smtp.tlsPort': 'Port with TLS',
  'smtp.user': 'User name',
  'smtp.password': 'Password',
  'smtp.makeKey': 'Create API key',
  'smtp.keyName': 'SMTP',
  'smtp.keyHint': 'An API key that can send. Use one for each program.',
  'smtp.keyOnce': 'Store it now: it’s shown only until you close or reload this tab.',
  'smtp.authentication': 'Authentication',
  'smtp.programs': 'Set up a program',
  'smtp.sender': 'From must be a verified sender of this account.',
  'smtp.add': 'In {file}',
  'smtp.run': 'Run',
  'smtp.off': 'SMTP is off',
  'smtp.offHint':
    'To turn it on, an operator sets these and restarts the service. The certificate must be for the host that programs connect to.',
  'smtp.docs': 'Send over SMTP',
  'smtp.docsHint': 'More programs, headers and replies:',
} as const;

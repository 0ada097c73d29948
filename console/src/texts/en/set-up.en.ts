/** The first start. */
export const setUp = {
  'setUp.title': 'Welcome to Signalpost',
  'setUp.hint': 'It is running. Make it yours, or look around in the demo first.',
  'setUp.hintAlone': 'It is running. Make it yours.',
  'setUp.own': 'Make it yours',
  'setUp.name': 'Your name',
  'setUp.email': 'Your e-mail address',
  'setUp.password': 'Password',
  'setUp.passwordHint': 'At least 12 characters.',
  'setUp.accountName': 'Name of your account',
  'setUp.accountId': 'Account id',
  'setUp.accountIdHint': 'Stands in the address of the send operation; it cannot be changed later.',
  'setUp.make': 'Create owner and sign in',
  'setUp.signIn': 'Sign in',
  'setUp.demo': 'Look around in the demo',
  'setUp.demoHint':
    'The demo is an account with templates, senders, an integration and a list. Its mail stays on this machine.',
  'setUp.demoAddress': 'Sign in as',
  'setUp.demoPassword': 'The password is',
  'setUp.demoFile': 'in the file',
  'setUp.demoFolder': 'of the data folder, which the start has named.',
  'setUp.demoSignIn': 'Sign in to the demo',
} as const;

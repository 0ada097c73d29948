import type { MailTexts } from './mail.en.ts';

export const german: MailTexts = {
  passwordLink: {
    subject: 'Passwort festlegen',
    title: 'Passwort festlegen',
    body: 'Hallo {{Name}}, hier können Sie ein neues Passwort für {{Email}} festlegen.',
    button: 'Passwort festlegen',
    limit: 'Der Link funktioniert einmal und läuft in {{Expires In}} ab.',
    unexpected:
      'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail. Ihr Passwort ändert sich nur, wenn Sie den Link verwenden.',
  },
  invitation: {
    subject: 'Einladung zu einem Konto',
    title: 'Sie sind eingeladen',
    body: '{{Inviter}} ({{Inviter Email}}) hat {{Email}} in dieses Konto eingeladen:',
    facts: [
      ['Konto', 'Account Name'],
      ['Konto-ID', 'Account ID'],
      ['Rolle', 'Role'],
    ],
    button: 'Einladung ansehen',
    limit: 'Der Link funktioniert einmal und läuft in {{Expires In}} ab.',
    unexpected:
      'Wenn Sie die Person oder das Konto nicht kennen, ignorieren Sie diese E-Mail. Ohne Ihre Zustimmung passiert nichts.',
  },
  senderConfirmation: {
    subject: 'Absenderadresse bestätigen',
    title: 'Absenderadresse bestätigen',
    body: 'Dieses Konto möchte E-Mails von Ihrer Adresse senden:',
    facts: [
      ['Angefragt von', 'Asked By'],
      ['Adresse', 'Sender Address'],
      ['Konto', 'Account Name'],
      ['Konto-ID', 'Account ID'],
    ],
    button: 'Adresse bestätigen',
    limit: 'Der Link funktioniert einmal und läuft in {{Expires In}} ab.',
    unexpected:
      'Wenn Sie dieses Konto nicht kennen, ignorieren Sie diese E-Mail. Ohne Ihre Bestätigung kann nichts von Ihrer Adresse gesendet werden.',
  },
  roles: {
    owner: 'Inhaber',
    developer: 'Entwickler',
    marketer: 'Marketing',
    viewer: 'Leser',
    service: 'Dienst',
  },
  notices: {
    'password-changed': {
      subject: 'Ihr Passwort wurde geändert',
      body: 'Das Passwort von {{Email}} wurde geändert. Alle anderen Sitzungen wurden beendet, und OAuth-Apps haben keinen Zugriff mehr.',
    },
    'password-set-by-link': {
      subject: 'Ihr Passwort wurde mit einem Link festgelegt',
      body: 'Das Passwort von {{Email}} wurde mit einem Link aus einer E-Mail festgelegt. Alle anderen Sitzungen wurden beendet, und OAuth-Apps haben keinen Zugriff mehr.',
    },
    'second-factor-added': {
      subject: 'Authenticator-App hinzugefügt',
      body: 'Für {{Email}} wurde eine Authenticator-App hinzugefügt. Bei der Anmeldung wird jetzt ein zweiter Faktor verlangt.',
    },
    'second-factor-removed': {
      subject: 'Authenticator-App entfernt',
      body: 'Die Authenticator-App von {{Email}} wurde entfernt. Ohne Passkey genügt für die Anmeldung jetzt das Passwort.',
    },
    'passkey-added': {
      subject: 'Passkey hinzugefügt',
      body: 'Für {{Email}} wurde ein Passkey hinzugefügt. Damit ist die Anmeldung ohne Passwort möglich.',
    },
    'passkey-removed': {
      subject: 'Passkey entfernt',
      body: 'Ein Passkey von {{Email}} wurde entfernt. Damit ist keine Anmeldung mehr möglich.',
    },
    'provider-connected': {
      subject: 'Anmeldedienst verbunden',
      body: 'Für {{Email}} wurde ein Anmeldedienst verbunden. Damit ist die Anmeldung ohne Passwort möglich.',
    },
    'provider-disconnected': {
      subject: 'Anmeldedienst getrennt',
      body: 'Ein Anmeldedienst von {{Email}} wurde getrennt. Damit ist keine Anmeldung mehr möglich.',
    },
    'recovery-codes-made': {
      subject: 'Neue Wiederherstellungscodes',
      body: 'Für {{Email}} wurden neue Wiederherstellungscodes erstellt. Die alten Codes gelten nicht mehr.',
    },
    'new-browser': {
      subject: 'Neue Anmeldung',
      body: '{{Email}} hat sich mit einem bisher nicht verwendeten Browser angemeldet: {{Browser}}, von {{Address}}.',
    },
    'sign-in-blocked': {
      subject: 'Anmeldeversuche werden gebremst',
      body: 'Jemand hat mit falschen Passwörtern oder Codes versucht, sich als {{Email}} anzumelden, zuletzt von {{Address}}. Weitere Versuche werden verzögert, nicht aber von Browsern, mit denen schon eine Anmeldung gelang.',
    },
    'api-key-created': {
      subject: 'Neuer API-Schlüssel',
      body: '{{Who}} hat im Konto {{Account Name}} ({{Account ID}}) den API-Schlüssel „{{Key Name}}“ erstellt.',
    },
    'api-key-rotated': {
      subject: 'API-Schlüssel erneuert',
      body: '{{Who}} hat im Konto {{Account Name}} ({{Account ID}}) den API-Schlüssel „{{Key Name}}“ erneuert.',
    },
    'security-address-changed': {
      subject: 'Sicherheitsadresse geändert',
      body: 'Die Adresse, die Sicherheitshinweise zum Konto {{Account Name}} ({{Account ID}}) erhält, wurde geändert.',
    },
    'archive-address-changed': {
      subject: 'Archivadresse geändert',
      body: 'Die Adresse, die eine Kopie der E-Mails des Kontos {{Account Name}} ({{Account ID}}) erhält, wurde geändert.',
    },
    'template-fields-revealed': {
      subject: 'Feld einer Vorlage nicht mehr geheim',
      body: '{{Who}} hat im Konto {{Account Name}} ({{Account ID}}) eine Vorlage mit einem Feld veröffentlicht, das nicht mehr geheim ist. Seine Werte sind jetzt in Nachrichten sichtbar.',
    },
    'owner-added': {
      subject: 'Neuer Kontoinhaber',
      body: '{{Who}} ist jetzt Inhaber des Kontos {{Account Name}} ({{Account ID}}).',
    },
    'owner-removed': {
      subject: 'Kontoinhaber entfernt',
      body: '{{Who}} ist nicht mehr Inhaber des Kontos {{Account Name}} ({{Account ID}}).',
    },
    'you-are-owner': {
      subject: 'Sie sind jetzt Kontoinhaber',
      body: '{{Email}} ist jetzt Inhaber des Kontos {{Account Name}} ({{Account ID}}).',
    },
    'you-are-no-owner': {
      subject: 'Sie sind nicht mehr Kontoinhaber',
      body: '{{Email}} ist nicht mehr Inhaber des Kontos {{Account Name}} ({{Account ID}}).',
    },
    'operator-added': {
      subject: 'Neuer Betreiber',
      body: '{{Who}} ist jetzt Betreiber dieser Installation.',
    },
    'you-are-operator': {
      subject: 'Sie sind jetzt Betreiber',
      body: '{{Email}} ist jetzt Betreiber dieser Installation.',
    },
  },
  accountNotice: {
    subject: 'Sicherheitshinweis zu einer Person Ihres Kontos',
    reason:
      '{{Email}} ist Inhaber oder Betreiber im Konto {{Account Name}} ({{Account ID}}). Wenn die Person nichts davon weiß, beenden Sie ihren Zugriff auf der Seite „Team“.',
  },
  someone: 'Jemand',
  noticeTime: 'Zeit: {{When}}',
  noticeUnexpected:
    'Wenn Sie das nicht erwartet haben, melden Sie sich überall ab, legen Sie ein neues Passwort fest und informieren Sie den Betreiber dieses Dienstes.',
  noticeEscape: 'Überall abmelden',
  noticeButton: 'Sicherheit prüfen',
  pasteLink:
    'Wenn die Schaltfläche nicht funktioniert, kopieren Sie diese Adresse in Ihren Browser:',
  footer:
    'Dies ist eine Service-E-Mail zu Ihrer Anmeldung oder Adresse. Sie lässt sich nicht abbestellen.',
  more: (count) => `und ${count} weitere, die im Audit-Log stehen`,
  minutes: (count) => `${count} Minuten`,
  hours: (count) => `${count} Stunden`,
  days: (count) => `${count} Tagen`,
};

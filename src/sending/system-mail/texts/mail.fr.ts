import type { MailTexts } from './mail.en.ts';

export const french: MailTexts = {
  passwordLink: {
    subject: 'Définissez votre mot de passe',
    title: 'Définissez votre mot de passe',
    body: 'Bonjour {{Name}}, vous pouvez définir ici un nouveau mot de passe pour {{Email}}.',
    button: 'Définir le mot de passe',
    limit: 'Le lien fonctionne une seule fois et expire dans {{Expires In}}.',
    unexpected:
      'Si vous n’avez rien demandé, ignorez cet e-mail. Votre mot de passe ne changera que si vous utilisez le lien.',
  },
  invitation: {
    subject: 'Invitation à rejoindre un compte',
    title: 'Vous avez une invitation',
    body: '{{Inviter}} ({{Inviter Email}}) a invité {{Email}} à rejoindre ce compte :',
    facts: [
      ['Compte', 'Account Name'],
      ['ID du compte', 'Account ID'],
      ['Rôle', 'Role'],
    ],
    button: 'Voir l’invitation',
    limit: 'Le lien fonctionne une seule fois et expire dans {{Expires In}}.',
    unexpected:
      'Si vous ne connaissez ni cette personne ni ce compte, ignorez cet e-mail. Rien ne se passe sans votre accord.',
  },
  senderConfirmation: {
    subject: 'Confirmez votre adresse d’expéditeur',
    title: 'Confirmez votre adresse d’expéditeur',
    body: 'Ce compte souhaite envoyer des e-mails depuis votre adresse :',
    facts: [
      ['Demandé par', 'Asked By'],
      ['Adresse', 'Sender Address'],
      ['Compte', 'Account Name'],
      ['ID du compte', 'Account ID'],
    ],
    button: 'Confirmer l’adresse',
    limit: 'Le lien fonctionne une seule fois et expire dans {{Expires In}}.',
    unexpected:
      'Si vous ne connaissez pas ce compte, ignorez cet e-mail. Rien ne peut être envoyé depuis votre adresse sans votre confirmation.',
  },
  roles: {
    owner: 'Propriétaire',
    developer: 'Développeur',
    marketer: 'Marketing',
    viewer: 'Lecteur',
    service: 'Service',
  },
  notices: {
    'password-changed': {
      subject: 'Votre mot de passe a été modifié',
      body: 'Le mot de passe de {{Email}} a été modifié. Toutes les autres sessions ont été fermées et les intégrations n’ont plus accès.',
    },
    'password-set-by-link': {
      subject: 'Votre mot de passe a été défini avec un lien',
      body: 'Le mot de passe de {{Email}} a été défini avec un lien reçu par e-mail. Toutes les autres sessions ont été fermées et les intégrations n’ont plus accès.',
    },
    'second-factor-added': {
      subject: 'Application d’authentification ajoutée',
      body: 'Une application d’authentification a été ajoutée pour {{Email}}. La connexion demande désormais un second facteur.',
    },
    'second-factor-removed': {
      subject: 'Application d’authentification supprimée',
      body: 'L’application d’authentification de {{Email}} a été supprimée. Sans clé d’accès, le mot de passe seul suffit désormais pour se connecter.',
    },
    'passkey-added': {
      subject: 'Clé d’accès ajoutée',
      body: 'Une clé d’accès a été ajoutée pour {{Email}}. Elle permet de se connecter sans mot de passe.',
    },
    'passkey-removed': {
      subject: 'Clé d’accès supprimée',
      body: 'Une clé d’accès de {{Email}} a été supprimée. Elle ne permet plus de se connecter.',
    },
    'provider-connected': {
      subject: 'Fournisseur d’identité associé',
      body: 'Un fournisseur d’identité a été associé à {{Email}}. Il permet de se connecter sans mot de passe.',
    },
    'provider-disconnected': {
      subject: 'Fournisseur d’identité dissocié',
      body: 'Un fournisseur d’identité de {{Email}} a été dissocié. Il ne permet plus de se connecter.',
    },
    'recovery-codes-made': {
      subject: 'Nouveaux codes de récupération',
      body: 'De nouveaux codes de récupération ont été créés pour {{Email}}. Les anciens ne fonctionnent plus.',
    },
    'new-browser': {
      subject: 'Nouvelle connexion',
      body: '{{Email}} s’est connecté avec un navigateur jamais utilisé auparavant : {{Browser}}, depuis {{Address}}.',
    },
    'sign-in-blocked': {
      subject: 'Tentatives de connexion ralenties',
      body: 'Quelqu’un a essayé de se connecter en tant que {{Email}} avec de mauvais mots de passe ou codes, en dernier depuis {{Address}}. Les prochaines tentatives sont retardées, mais pas depuis les navigateurs déjà utilisés.',
    },
    'api-key-created': {
      subject: 'Nouvelle clé d’API',
      body: '{{Who}} a créé la clé d’API « {{Key Name}} » dans le compte {{Account Name}} ({{Account ID}}).',
    },
    'api-key-rotated': {
      subject: 'Clé d’API renouvelée',
      body: '{{Who}} a renouvelé la clé d’API « {{Key Name}} » dans le compte {{Account Name}} ({{Account ID}}).',
    },
    'security-address-changed': {
      subject: 'Adresse de sécurité modifiée',
      body: 'L’adresse qui reçoit les avis de sécurité du compte {{Account Name}} ({{Account ID}}) a été modifiée.',
    },
    'archive-address-changed': {
      subject: 'Adresse d’archivage modifiée',
      body: 'L’adresse qui reçoit une copie des e-mails du compte {{Account Name}} ({{Account ID}}) a été modifiée.',
    },
    'template-fields-revealed': {
      subject: 'Champ de modèle qui n’est plus secret',
      body: '{{Who}} a publié un modèle dont un champ n’est plus secret, dans le compte {{Account Name}} ({{Account ID}}). Ses valeurs sont désormais visibles dans les messages.',
    },
    'owner-added': {
      subject: 'Nouveau propriétaire du compte',
      body: '{{Who}} est désormais propriétaire du compte {{Account Name}} ({{Account ID}}).',
    },
    'owner-removed': {
      subject: 'Propriétaire du compte retiré',
      body: '{{Who}} n’est plus propriétaire du compte {{Account Name}} ({{Account ID}}).',
    },
    'you-are-owner': {
      subject: 'Vous êtes désormais propriétaire du compte',
      body: '{{Email}} est désormais propriétaire du compte {{Account Name}} ({{Account ID}}).',
    },
    'you-are-no-owner': {
      subject: 'Vous n’êtes plus propriétaire du compte',
      body: '{{Email}} n’est plus propriétaire du compte {{Account Name}} ({{Account ID}}).',
    },
    'operator-added': {
      subject: 'Nouvel opérateur',
      body: '{{Who}} est désormais opérateur de cette installation.',
    },
    'you-are-operator': {
      subject: 'Vous êtes désormais opérateur',
      body: '{{Email}} est désormais opérateur de cette installation.',
    },
  },
  accountNotice: {
    subject: 'Avis de sécurité concernant une personne de votre compte',
    reason:
      '{{Email}} est propriétaire ou opérateur dans le compte {{Account Name}} ({{Account ID}}). Si cette personne n’en sait rien, retirez-lui l’accès sur la page « Team ».',
  },
  someone: 'Quelqu’un',
  noticeTime: 'Date : {{When}}',
  noticeUnexpected:
    'Si vous ne vous y attendiez pas, déconnectez-vous partout, définissez un nouveau mot de passe et prévenez l’opérateur de ce service.',
  noticeEscape: 'Se déconnecter partout',
  noticeButton: 'Vérifier la sécurité',
  pasteLink: 'Si le bouton ne fonctionne pas, copiez cette adresse dans votre navigateur :',
  footer:
    'Ceci est un e-mail de service concernant votre identifiant ou votre adresse. Vous ne pouvez pas vous en désabonner.',
  more: (count) => `et ${count} autres, visibles dans le journal d’audit`,
  minutes: (count) => `${count} minutes`,
  hours: (count) => `${count} heures`,
  days: (count) => `${count} jours`,
};

import type { ReaderLanguage } from '../../base/values/reader-language.ts';

/** What a link does, for its reader. */
export type GuardedLinkPage = 'open' | 'expired' | 'ended' | 'incomplete' | 'unavailable';

/** Each page has a title. Pages without a text of their own, of links that work no longer, have the text `again`. */
type Texts = Readonly<
  Record<GuardedLinkPage | 'button' | 'unasked' | 'again', string> &
    Partial<Record<`${GuardedLinkPage}Text`, string>>
>;

/** The pages in each language; `{host}` is where the link leads, `{account}` who sent the message. */
export const guardedLinkTexts: Readonly<Record<ReaderLanguage, Texts>> = {
  en: {
    open: 'Continue to {host}',
    openText:
      'This link is from a message that {account} sent you. It may work only once, so it opens when you press the button.',
    button: 'Continue',
    unasked: 'Didn’t ask for this message? Close this page. Nothing happens.',
    again: 'Go back to where you asked for the message, and ask for a new one.',
    expired: 'This link has expired',
    ended: 'This link no longer works',
    incomplete: 'Incomplete link',
    incompleteText:
      'Your email app may have cut it off. Open the message again, and copy the whole link.',
    unavailable: 'Try again in a minute',
    unavailableText:
      'We can’t check this link right now. It isn’t used up: reload this page in a minute.',
  },
  de: {
    open: 'Weiter zu {host}',
    openText:
      'Dieser Link stammt aus einer Nachricht von {account}. Er funktioniert vielleicht nur einmal und öffnet sich deshalb erst, wenn Sie die Schaltfläche drücken.',
    button: 'Weiter',
    unasked:
      'Sie haben die Nachricht nicht angefordert? Schließen Sie diese Seite. Es passiert nichts.',
    again:
      'Gehen Sie dorthin zurück, wo Sie die Nachricht angefordert haben, und fordern Sie eine neue an.',
    expired: 'Dieser Link ist abgelaufen',
    ended: 'Dieser Link funktioniert nicht mehr',
    incomplete: 'Unvollständiger Link',
    incompleteText:
      'Vielleicht hat Ihr E-Mail-Programm ihn abgeschnitten. Öffnen Sie die Nachricht noch einmal und kopieren Sie den ganzen Link.',
    unavailable: 'Versuchen Sie es in einer Minute noch einmal',
    unavailableText:
      'Dieser Link lässt sich gerade nicht prüfen. Er ist nicht verbraucht: Laden Sie diese Seite in einer Minute neu.',
  },
  fr: {
    open: 'Continuer vers {host}',
    openText:
      'Ce lien vient d’un message que {account} vous a envoyé. Il ne fonctionne peut-être qu’une seule fois : il s’ouvre donc quand vous appuyez sur le bouton.',
    button: 'Continuer',
    unasked: 'Vous n’avez pas demandé ce message ? Fermez cette page. Rien ne se passe.',
    again: 'Retournez là où vous avez demandé le message et demandez-en un nouveau.',
    expired: 'Ce lien a expiré',
    ended: 'Ce lien ne fonctionne plus',
    incomplete: 'Lien incomplet',
    incompleteText:
      'Votre messagerie l’a peut-être coupé. Rouvrez le message et copiez le lien en entier.',
    unavailable: 'Réessayez dans une minute',
    unavailableText:
      'Ce lien ne peut pas être vérifié pour le moment. Il n’a pas été utilisé : rechargez cette page dans une minute.',
  },
  es: {
    open: 'Continuar a {host}',
    openText:
      'Este enlace es de un mensaje que le envió {account}. Puede que funcione una sola vez, por eso se abre cuando pulsa el botón.',
    button: 'Continuar',
    unasked: '¿No pidió este mensaje? Cierre esta página. No pasa nada.',
    again: 'Vuelva al lugar donde pidió el mensaje y pida uno nuevo.',
    expired: 'Este enlace ha caducado',
    ended: 'Este enlace ya no funciona',
    incomplete: 'Enlace incompleto',
    incompleteText:
      'Puede que su programa de correo lo haya cortado. Abra el mensaje de nuevo y copie el enlace completo.',
    unavailable: 'Inténtelo de nuevo en un minuto',
    unavailableText:
      'Ahora no podemos comprobar este enlace. No se ha gastado: vuelva a cargar esta página en un minuto.',
  },
};

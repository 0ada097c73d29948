import type { MailTexts } from './mail.en.ts';

export const spanish: MailTexts = {
  passwordLink: {
    subject: 'Establece tu contraseña',
    title: 'Establece tu contraseña',
    body: 'Hola, {{Name}}: aquí puedes establecer una contraseña nueva para {{Email}}.',
    button: 'Establecer contraseña',
    limit: 'El enlace funciona una sola vez y caduca en {{Expires In}}.',
    unexpected:
      'Si no lo has pedido, ignora este correo. Tu contraseña solo cambiará si usas el enlace.',
  },
  invitation: {
    subject: 'Invitación para unirte a una cuenta',
    title: 'Tienes una invitación',
    body: '{{Inviter}} ({{Inviter Email}}) ha invitado a {{Email}} a unirse a esta cuenta:',
    facts: [
      ['Cuenta', 'Account Name'],
      ['ID de la cuenta', 'Account ID'],
      ['Rol', 'Role'],
    ],
    button: 'Ver la invitación',
    limit: 'El enlace funciona una sola vez y caduca en {{Expires In}}.',
    unexpected:
      'Si no conoces a esta persona ni la cuenta, ignora este correo. No pasa nada si no aceptas.',
  },
  senderConfirmation: {
    subject: 'Confirma tu dirección de remitente',
    title: 'Confirma tu dirección de remitente',
    body: 'Esta cuenta quiere enviar correos desde tu dirección:',
    facts: [
      ['Solicitado por', 'Asked By'],
      ['Dirección', 'Sender Address'],
      ['Cuenta', 'Account Name'],
      ['ID de la cuenta', 'Account ID'],
    ],
    button: 'Confirmar la dirección',
    limit: 'El enlace funciona una sola vez y caduca en {{Expires In}}.',
    unexpected:
      'Si no conoces esta cuenta, ignora este correo. No se puede enviar nada desde tu dirección si no lo confirmas.',
  },
  roles: {
    owner: 'Propietario',
    developer: 'Desarrollador',
    marketer: 'Marketing',
    viewer: 'Lector',
    service: 'Servicio',
  },
  notices: {
    'password-changed': {
      subject: 'Se ha cambiado tu contraseña',
      body: 'Se ha cambiado la contraseña de {{Email}}. Se han cerrado todas las demás sesiones y las integraciones han perdido el acceso.',
    },
    'password-set-by-link': {
      subject: 'Se ha establecido tu contraseña con un enlace',
      body: 'Se ha establecido la contraseña de {{Email}} con un enlace recibido por correo. Se han cerrado todas las demás sesiones y las integraciones han perdido el acceso.',
    },
    'second-factor-added': {
      subject: 'Aplicación de autenticación añadida',
      body: 'Se ha añadido una aplicación de autenticación para {{Email}}. Ahora se pide un segundo factor al iniciar sesión.',
    },
    'second-factor-removed': {
      subject: 'Aplicación de autenticación eliminada',
      body: 'Se ha eliminado la aplicación de autenticación de {{Email}}. Sin clave de acceso, ahora basta con la contraseña para iniciar sesión.',
    },
    'passkey-added': {
      subject: 'Clave de acceso añadida',
      body: 'Se ha añadido una clave de acceso para {{Email}}. Permite iniciar sesión sin contraseña.',
    },
    'passkey-removed': {
      subject: 'Clave de acceso eliminada',
      body: 'Se ha eliminado una clave de acceso de {{Email}}. Ya no permite iniciar sesión.',
    },
    'provider-connected': {
      subject: 'Proveedor de identidad vinculado',
      body: 'Se ha vinculado un proveedor de identidad a {{Email}}. Permite iniciar sesión sin contraseña.',
    },
    'provider-disconnected': {
      subject: 'Proveedor de identidad desvinculado',
      body: 'Se ha desvinculado un proveedor de identidad de {{Email}}. Ya no permite iniciar sesión.',
    },
    'recovery-codes-made': {
      subject: 'Nuevos códigos de recuperación',
      body: 'Se han creado nuevos códigos de recuperación para {{Email}}. Los anteriores ya no funcionan.',
    },
    'new-browser': {
      subject: 'Nuevo inicio de sesión',
      body: '{{Email}} inició sesión con un navegador que no había usado antes: {{Browser}}, desde {{Address}}.',
    },
    'sign-in-blocked': {
      subject: 'Intentos de inicio de sesión ralentizados',
      body: 'Alguien intentó iniciar sesión como {{Email}} con contraseñas o códigos incorrectos, la última vez desde {{Address}}. Los siguientes intentos se retrasan, pero no desde los navegadores ya utilizados.',
    },
    'api-key-created': {
      subject: 'Nueva clave de API',
      body: '{{Who}} ha creado la clave de API «{{Key Name}}» en la cuenta {{Account Name}} ({{Account ID}}).',
    },
    'api-key-rotated': {
      subject: 'Clave de API renovada',
      body: '{{Who}} ha renovado la clave de API «{{Key Name}}» en la cuenta {{Account Name}} ({{Account ID}}).',
    },
    'security-address-changed': {
      subject: 'Dirección de seguridad cambiada',
      body: 'Se cambió la dirección que recibe los avisos de seguridad de la cuenta {{Account Name}} ({{Account ID}}).',
    },
    'archive-address-changed': {
      subject: 'Dirección de archivo cambiada',
      body: 'Se cambió la dirección que recibe una copia del correo de la cuenta {{Account Name}} ({{Account ID}}).',
    },
    'template-fields-revealed': {
      subject: 'Campo de plantilla que ya no es secreto',
      body: '{{Who}} ha publicado una plantilla con un campo que ya no es secreto, en la cuenta {{Account Name}} ({{Account ID}}). Sus valores ya se pueden ver en los mensajes.',
    },
    'owner-added': {
      subject: 'Nuevo propietario de la cuenta',
      body: '{{Who}} es ahora propietario de la cuenta {{Account Name}} ({{Account ID}}).',
    },
    'owner-removed': {
      subject: 'Propietario de la cuenta eliminado',
      body: '{{Who}} ya no es propietario de la cuenta {{Account Name}} ({{Account ID}}).',
    },
    'you-are-owner': {
      subject: 'Ahora eres propietario de la cuenta',
      body: '{{Email}} es ahora propietario de la cuenta {{Account Name}} ({{Account ID}}).',
    },
    'you-are-no-owner': {
      subject: 'Ya no eres propietario de la cuenta',
      body: '{{Email}} ya no es propietario de la cuenta {{Account Name}} ({{Account ID}}).',
    },
    'operator-added': {
      subject: 'Nuevo operador',
      body: '{{Who}} es ahora operador de esta instalación.',
    },
    'you-are-operator': {
      subject: 'Ahora eres operador',
      body: '{{Email}} es ahora operador de esta instalación.',
    },
  },
  accountNotice: {
    subject: 'Aviso de seguridad sobre una persona de tu cuenta',
    reason:
      '{{Email}} es propietario u operador en la cuenta {{Account Name}} ({{Account ID}}). Si no sabe nada de esto, retírale el acceso en la página «Team».',
  },
  someone: 'Alguien',
  noticeTime: 'Hora: {{When}}',
  noticeUnexpected:
    'Si no lo esperabas, cierra todas las sesiones, establece una contraseña nueva y avisa al operador de este servicio.',
  noticeEscape: 'Cerrar todas las sesiones',
  noticeButton: 'Revisar la seguridad',
  pasteLink: 'Si el botón no funciona, copia esta dirección en tu navegador:',
  footer: 'Este es un correo de servicio sobre tu usuario o tu dirección. No puedes darte de baja.',
  more: (count) => `y ${count} más, que figuran en el registro de auditoría`,
  minutes: (count) => `${count} minutos`,
  hours: (count) => `${count} horas`,
  days: (count) => `${count} días`,
};

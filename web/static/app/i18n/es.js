// Textos de todo salvo Ajustes. Las mismas claves y huecos que en.js.
export default {
  'ui.copy': 'Copiar',
  'ui.copied': 'Copiado',
  'ui.cancel': 'Cancelar',
  'ui.close': 'Cerrar',
  'ui.save': 'Guardar',
  'ui.saved': 'Guardado',
  'ui.retry': 'Reintentar',
  'ui.delete': 'Eliminar',
  'ui.loading': 'Cargando…',

  'nav.skip': 'Ir al contenido',
  'nav.open': 'Abrir la barra lateral',
  'nav.close': 'Cerrar la barra lateral',
  'nav.settings': 'Ajustes',
  'nav.conversations': 'Conversaciones',

  'error.unreachable': 'El compañero no responde. ¿Sigue en marcha?',
  'error.view': 'No se pudo mostrar esta vista.',

  'gate.starting': 'Conectando con el compañero…',
  'gate.title': 'Sin conexión con el compañero',
  'gate.no_token': 'Esta pestaña no tiene llave del compañero de este equipo. Abre la página de nuevo desde una terminal: ejecuta otra vez la misma orden, o',
  'gate.restarted': 'El compañero se reinició y la llave de esta pestaña ya no sirve. No se ejecutó nada de lo que esperaba. Abre la página de nuevo: ejecuta otra vez la misma orden, o',
  'gate.code_used': 'El enlace que abrió esta página ya se usó o es demasiado antiguo. Consigue otro: ejecuta otra vez la misma orden, o',
  'gate.unreachable': 'Aquí no responde ningún compañero. Arráncalo otra vez con la misma orden y después',
  'gate.not_loopback': 'La dirección del enlace no está en este equipo, así que la página no se conecta a ella. Arranca el compañero aquí y después',
  'gate.retry': 'Reintentar',
  'gate.version': 'La página y el compañero no encajan',
  'gate.page_old': 'La página es la versión {page} y el compañero la {companion}. Actualiza la página: el compañero trae la suya en su propia dirección.',
  'gate.companion_old': 'La página es la versión {page} y el compañero la {companion}. Actualiza el compañero.',
};

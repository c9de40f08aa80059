// Texts of everything but Settings. es.js has the same keys and placeholders.
export default {
  'ui.copy': 'Copy',
  'ui.copied': 'Copied',
  'ui.cancel': 'Cancel',
  'ui.close': 'Close',
  'ui.save': 'Save',
  'ui.saved': 'Saved',
  'ui.retry': 'Try again',
  'ui.delete': 'Delete',
  'ui.loading': 'Loading…',

  'nav.skip': 'Skip to the content',
  'nav.open': 'Open the sidebar',
  'nav.close': 'Close the sidebar',
  'nav.settings': 'Settings',
  'nav.conversations': 'Conversations',

  'error.unreachable': 'The companion does not answer. Is it still running?',
  'error.view': 'This view could not be shown.',

  'gate.starting': 'Connecting to the companion…',
  'gate.title': 'Not connected to the companion',
  'gate.no_token': 'This tab has no key to the companion on this computer. Open the page anew from a terminal: run the same command again, or',
  'gate.restarted': 'The companion was restarted, so the key of this tab no longer works. Nothing that waited was run. Open the page anew: run the same command again, or',
  'gate.code_used': 'The link that opened this page was already used or is too old. Get a new one: run the same command again, or',
  'gate.unreachable': 'No companion answers here. Start it again with the same command, then',
  'gate.not_loopback': 'The address in the link is not on this computer, so the page does not connect to it. Start the companion here, then',
  'gate.retry': 'Try again',
  'gate.version': 'Page and companion do not fit together',
  'gate.page_old': 'The page is version {page}, the companion {companion}. Update the page: the companion brings its own, at its own address.',
  'gate.companion_old': 'The page is version {page}, the companion {companion}. Update the companion.',
};

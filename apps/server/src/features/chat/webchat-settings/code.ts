import type { contract, Query, WebchatSettings } from '@botstead/contract'

type CodeType = Query<typeof contract.botWebchat.getCode>['type']

/**
 * Returns HTML that puts a chat on a page, or the address of its own page.
 * @param address of the web chat, without a slash at the end
 */
export function codeOf(type: CodeType, address: string, settings: WebchatSettings): string {
  const src = `src="${address}/inject.js"`
  switch (type) {
    case 'preconfigured':
      return `<script ${src} defer></script>`
    case 'configurable':
      return `<script ${src} data-manual></script>
<script>
  window.botpress.init({
    configuration: ${scriptOf(settings)},
  })
</script>`
    case 'fullscreen':
      return `<div id="webchat" style="position: fixed; inset: 0"></div>
<script ${src} data-selector="#webchat" data-open defer></script>`
    case 'sharableUrl':
      return address
    default:
      return type satisfies never
  }
}

/** JSON as a part of a script: nothing in it ends the script element. */
function scriptOf(settings: WebchatSettings): string {
  return JSON.stringify(settings, undefined, 2)
    .replaceAll('<', '\\u003c')
    .replaceAll('\n', '\n    ')
}

/** The rendered reference; its parts are named relative to where it is. */
export const referencePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Botstead API reference</title>
<link rel="icon" href="favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/reference.css">
</head>
<body>
<main id="reference"><noscript>This page needs JavaScript. The same is in <a href="openapi.json">openapi.json</a>.</noscript></main>
<script src="docs/swagger-ui.js"></script>
<script src="docs/reference.js"></script>
</body>
</html>
`

export const referenceStyle = `body { margin: 0 }
.swagger-ui .search { display: block; box-sizing: border-box; width: 100%; margin: 1rem 0; font-size: 1rem }
.swagger-ui .opblock-summary-path { overflow-wrap: anywhere }
@media (max-width: 40rem) {
  .swagger-ui .wrapper { padding: 0 0.5rem }
  .swagger-ui .opblock .opblock-summary-description { flex-basis: 100% }
  .swagger-ui .opblock .opblock-summary-control { flex-wrap: wrap }
}
`

/**
 * Starts the page. The library searches the names of groups only; here every word of the question must
 * be in the method, address, summary, name or group of an operation, and groups open while one searches.
 */
export const referenceScript = `'use strict'
const textOf = (entry, group) =>
  [
    group,
    entry.get('method'),
    entry.get('path'),
    entry.getIn(['operation', 'summary'], ''),
    entry.getIn(['operation', 'operationId'], ''),
  ]
    .join(' ')
    .toLowerCase()

const questionOf = (filter) => (typeof filter === 'string' && filter !== 'true' ? filter : '')

const search = () => ({
  fn: {
    opsFilter: (groups, question) => {
      const words = question.trim().toLowerCase().split(/\\s+/)
      const fits = (group) => (entry) => words.every((word) => textOf(entry, group).includes(word))
      return groups
        .map((tag, group) => tag.update('operations', (all) => all.filter(fits(group))))
        .filter((tag) => tag.get('operations').size > 0)
    },
  },
  wrapComponents: {
    FilterContainer: (_original, { React }) => ({ layoutSelectors, layoutActions, specSelectors }) => {
      const ask = (question) => {
        layoutActions.updateFilter(question)
        for (const group of specSelectors.taggedOperations().keys()) {
          layoutActions.show(['operations-tag', group], question.trim() !== '')
        }
      }
      return React.createElement(
        'div',
        { className: 'wrapper' },
        React.createElement('input', {
          className: 'search',
          type: 'search',
          placeholder: 'Search operations',
          'aria-label': 'Search operations',
          value: questionOf(layoutSelectors.currentFilter()),
          onChange: (event) => ask(event.target.value),
        }),
      )
    },
  },
})

SwaggerUIBundle({
  url: new URL('openapi.json', location.href).href,
  domNode: document.getElementById('reference'),
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null,
  plugins: [search],
})
`

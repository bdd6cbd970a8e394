/** The rendered reference; it refers to its parts by relative addresses. */
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
 * Starts the page. The library searches only the names of groups; here every word of the query must
 * occur in the method, address, summary, name or group of an operation, and searching opens the groups.
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

/** Icon of all pages: a house with the face of a bot. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 2 2 14v16h28V14Z" fill="#0f5f73"/><rect x="8" y="15" width="16" height="11" rx="3" fill="#fff"/><circle cx="12.5" cy="20.5" r="2" fill="#0f5f73"/><circle cx="19.5" cy="20.5" r="2" fill="#0f5f73"/></svg>
`

/** The start page: says that the server is running and what to do next. */
export const startPage = (version: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Botstead is running</title>
<link rel="icon" href="favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="start.css">
</head>
<body>
<main>
<h1>Botstead is running</h1>
<p>Version ${version}. This server is called by programs; there is no page to sign in to.</p>
<h2>Next steps</h2>
<ol>
<li>Make a bot, in the folder of the checkout on the machine of the server: <pre><code>npx botstead bots create First</code></pre></li>
<li>Give it a file and ask it something:
<pre><code>npx botstead files put README.md --index
npx botstead search "How do I start?"</code></pre></li>
<li>Try any operation in the <a href="docs">reference</a>. Choose Authorize there and paste the token that the first start printed; the file <code>admin-token</code> of the data folder has it too.</li>
</ol>
<h2>For programs</h2>
<ul>
<li><a href="openapi.json">openapi.json</a>: the same operations as OpenAPI 3.1</li>
<li><a href="readyz">readyz</a>: whether the server can serve</li>
</ul>
</main>
</body>
</html>
`

export const startStyle = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 0 }
main { max-width: 42rem; margin: 0 auto; padding: 1.5rem 1rem }
li { margin: 0.5rem 0 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.75rem; border: 1px solid; border-radius: 0.25rem }
`

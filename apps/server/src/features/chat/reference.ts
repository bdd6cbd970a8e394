/** A page that leads to the rendered reference, where clients look for one. */
export const referencePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Chat interface</title>
<meta http-equiv="refresh" content="0; url=/docs">
<p>The chat interface is part of the <a href="/docs">reference</a>; <a href="openapi.json">its description</a> alone is here.</p>
</html>
`

import { describe, expect, test } from 'vitest'
import { blocksOf } from '../outline.js'

const page = (body: string) => `<!doctype html><title>Help</title><main><h1>Help</h1>${body}</main>`

/** The blocks of a page below its title. */
async function read(body: string): Promise<string[]> {
  return (await blocksOf('a.html', page(body))).slice(1)
}

describe('a control inside of content is content', () => {
  test.each([
    [
      'a question that is a button in a heading',
      `<h2><button type="button" aria-expanded="false">May I <b>bring</b> a dog?</button></h2>
       <div class="collapse"><p>Yes.</p></div>`,
      ['## May I **bring** a dog?', 'Yes.'],
    ],
    [
      'a heading in a button',
      '<button aria-controls="a"><h3>Refunds?</h3></button><div id="a" hidden>In two weeks.</div>',
      ['### Refunds?', 'In two weeks.'],
    ],
    [
      'a button above the text that it unfolds',
      '<button class="accordion">Delivery</button><div class="panel"><p>Three days.</p></div>',
      ['Delivery', 'Three days.'],
    ],
    [
      'a button whose styles have names of their own',
      '<button class="print:hidden scroll-mt-4 theme-dark">Which sizes?</button><p>Two.</p>',
      ['Which sizes?', 'Two.'],
    ],
    [
      'a button in a form that unfolds a text',
      '<form><button aria-expanded="false">Why?</button><p>So.</p></form>',
      ['Why?', 'So.'],
    ],
    [
      'a summary',
      '<details><summary>Costs <i class="icon" aria-hidden="true">expand_more</i></summary>None.</details>',
      ['Costs', 'None.'],
    ],
    [
      'a term that is a button',
      '<dl><dt><button>When?</button></dt><dd>At noon.</dd></dl>',
      ['- When?\n  At noon.'],
    ],
    [
      'roles in place of elements',
      `<div role="heading" aria-level="3"><span role="button" aria-expanded="false">Who?</span></div>
       <div role="region">Anna.</div>`,
      ['### Who?', 'Anna.'],
    ],
    [
      'a button in a sentence',
      '<p>Press <button>Save</button> before you leave.</p>',
      ['Press Save before you leave.'],
    ],
    [
      'labels and buttons beside each other',
      '<div><button>North</button><button>South</button><label>East</label><label>West</label></div>',
      ['North South East West'],
    ],
    [
      'a box that is ticked',
      '<ul><li><input type="checkbox" checked> Pump</li><li><input type="checkbox"> Hose</li></ul>',
      ['- [x] Pump\n- [ ] Hose'],
    ],
  ])('%s', async (_, body, expected) => {
    expect(await read(body)).toEqual(expected)
  })

  test.each([
    [
      'by the label of the panel',
      `<ul class="nav nav-tabs" role="tablist"><li><a href="#x" id="t1" role="tab">Linux</a></li>
       <li><a href="#y" id="t2" role="tab">Windows</a></li></ul>
       <div role="tabpanel" aria-labelledby="t1">apt</div>
       <div role="tabpanel" aria-labelledby="t2">winget</div>`,
    ],
    [
      'by what the tab controls, in navigation',
      `<nav><button data-bs-toggle="tab" data-bs-target="#p1">Linux</button>
       <button role="tab" aria-controls="p2">Windows</button></nav>
       <div role="tabpanel" id="p1">apt</div><div role="tabpanel" id="p2">winget</div>`,
    ],
    [
      'by their order',
      `<ul role="tablist"><li role="tab">Linux</li><li role="tab">Windows</li></ul>
       <div role="tabpanel">apt</div><div role="tabpanel" hidden>winget</div>`,
    ],
  ])('the name of a tab stands above its panel, %s', async (_, body) => {
    expect(await read(body)).toEqual(['Linux', 'apt', 'Windows', 'winget'])
  })

  test('the names of tabs without panels stay where they are', async () => {
    const body =
      '<div role="tablist"><button role="tab">Ground</button><button role="tab">Air</button></div>'
    expect(await read(body)).toEqual(['Ground Air'])
  })
})

test.each([
  [
    'buttons of a shop',
    '<p>Text</p><button>Add to basket</button><button>In den Warenkorb</button>',
    ['Text'],
  ],
  ['a button beside code', '<pre>a = 1<button>Copy</button></pre>', ['```\na = 1\n```']],
  [
    'a button that says what it does',
    '<p>Text</p><button class="btn-close">Shut</button>',
    ['Text'],
  ],
  ['a menu', '<p>Text</p><button aria-haspopup="true">Themes</button>', ['Text']],
  ['navigation', '<p>Text</p><div role="navigation"><button>One</button></div>', ['Text']],
  [
    'fields and the button that sends them',
    '<p>Text</p><form><label>Name<input value="x"></label><select><option>A</select><button>Go on</button></form>',
    ['Text', 'Name'],
  ],
])('%s is not content', async (_, body, expected) => {
  expect(await read(body)).toEqual(expected)
})

describe('what a page shows in other ways', () => {
  test.each([
    ['a page in a frame', '<iframe srcdoc="<main><p>Inner</p></main>"></iframe>', ['Inner']],
    [
      'an element with a shadow root',
      '<my-card><template shadowrootmode="open"><p>Shadow</p></template></my-card>',
      ['Shadow'],
    ],
    [
      'a drawing with words',
      '<svg><title>Flow</title><text>Intake</text><text><tspan x="1">Settling</tspan><tspan x="1">tank</tspan></text></svg>',
      ['Intake Settling tank'],
    ],
    [
      'a drawing with a name',
      '<svg role="img" aria-label="Cross-section"><path/></svg>',
      ['![Cross-section]()'],
    ],
    [
      'a part of a picture',
      '<map><area href="n.html" alt="North"><area alt="South"></map>',
      ['[North](n.html) South'],
    ],
    [
      'a figure',
      '<figure><img src="p.png" alt="Pump"><figcaption>Fig. 1: a pump</figcaption></figure>',
      ['![Pump](p.png)', 'Fig. 1: a pump'],
    ],
    [
      'an abbreviation, once',
      '<p><abbr title="Net Positive Suction Head">NPSH</abbr> and <abbr title="Net Positive Suction Head">NPSH</abbr></p>',
      ['NPSH (Net Positive Suction Head) and NPSH'],
    ],
    [
      'a quotation with its source',
      '<blockquote><p>Pumps last.</p><footer>Anna</footer></blockquote>',
      ['> Pumps last.\n>\n> Anna'],
    ],
    [
      'a table and a list by roles',
      `<div role="table"><div role="row"><span role="columnheader">Part</span><span role="columnheader">Price</span></div>
       <div role="row"><span role="cell">Seal</span><span role="cell">4</span></div></div>
       <div role="list"><div role="listitem">One</div><div role="listitem">Two</div></div>`,
      ['| Part | Price |\n| --- | --- |\n| Seal | 4 |', '- One\n- Two'],
    ],
    [
      'what a field shows that nobody can change',
      '<p>Key <input type="text" readonly value="A-17"> of <select disabled><option>Red<option selected>Blue</select></p><textarea readonly>port = 80</textarea><p>Yours <input value="x"></p>',
      ['Key A-17 of Blue', '```\nport = 80\n```', 'Yours'],
    ],
    [
      'a tab that refers to a panel without a role',
      '<ul><li><a role="tab" href="#a">Linux</a></li><li><a role="tab" href="#b">Mac</a></li></ul><div id="a"><p>apt</p></div><div id="b"><p>brew</p></div>',
      ['Linux', 'apt', 'Mac', 'brew'],
    ],
    [
      'what is laid out side by side',
      '<div style="display: flex"><span>12</span><span>34</span></div>',
      ['12 34'],
    ],
    [
      'labels of a list as they are shown',
      '<ol type="a" start="2"><li>Pay</li><li>Collect</li></ol><ol><li>One</li><li value="5">Five</li></ol><ol reversed><li>Two</li><li>One</li></ol>',
      ['- b. Pay\n- c. Collect', '- 1. One\n- 5. Five', '- 2. Two\n- 1. One'],
    ],
  ])('%s is read', async (_, body, expected) => {
    expect(await read(body)).toEqual(expected)
  })

  test('pages without end in frames are read to a depth', async () => {
    let body = '<p>Deepest</p>'
    for (let depth = 0; depth < 4; depth += 1) {
      body = `<p>Page</p><iframe srcdoc="${body.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`
    }
    expect(await read(body)).toEqual(['Page', 'Page', 'Page'])
  })
})

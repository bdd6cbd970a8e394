import { expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'

const card = (...lines: string[]) => ['BEGIN:VCARD', ...lines, 'END:VCARD', ''].join('\r\n')

test('a person is a section with numbers, addresses and notes', async () => {
  const text = card(
    'VERSION:4.0',
    'N:King;Ada;Augusta;Dr.;',
    'FN:Dr. Ada King',
    'ORG:Analytical Engines\\, Ltd.;Research',
    'TEL;TYPE="work,voice";VALUE=uri:tel:+44-20-7946-0001',
    'item1.TEL;TYPE=cell,pref:01234 567890',
    'EMAIL;TYPE=INTERNET:ada@example.com',
    'ADR;TYPE=home:;;12 St. James\\; Square;London;;SW1Y 4JH;England',
    'X-SKYPE:ada.king',
    'PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQAAAQABAAD',
    ' /2wBDAAMCAgMCAgMDAwMEAwME',
    'NOTE:Speaks French.\\nCalls back on',
    '  Fridays.',
    'REV:20240102T100000Z',
  )
  expect(await blocksOf('ada.vcf', text)).toEqual([
    '# Dr. Ada King',
    'Organization: Analytical Engines, Ltd., Research\n' +
      'Telephone (work): +44-20-7946-0001\n' +
      'Telephone (cell): 01234 567890\n' +
      'E-mail: ada@example.com\n' +
      'Address (home): 12 St. James; Square, London, SW1Y 4JH, England\n' +
      'skype: ada.king',
    'Speaks French.\nCalls back on Fridays.',
  ])
  expect((await readFile('ada.vcf', text)).omissions).toMatchObject([
    { kind: 'picture_without_text', count: 1, places: [{ part: 'Dr. Ada King' }] },
  ])
})

test('version 2.1 of old telephones: quoted-printable, its charset and Base64 below a line', async () => {
  const text =
    card(
      'VERSION:2.1',
      'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg;;;',
      'TEL;CELL:0171 2345678',
      'NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:Gr=F6=DFe 42,=',
      ' blau',
      'PHOTO;JPEG;BASE64:',
      '/9j/4AAQSkZJRgABAQAAAQABAAD2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYI',
      'DAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRQ=',
      '',
      'TITLE:Einkauf',
    ) + card('VERSION:2.1', 'FN:Bob', 'TEL;WORK;FAX:00110022')
  expect(await blocksOf('old.vcf', text)).toEqual([
    '# Jörg Müller',
    'Title: Einkauf\nTelephone (cell): 0171 2345678',
    'Größe 42,blau',
    '# Bob',
    'Telephone (work, fax): 00110022',
  ])
})

test('a long note is read to its end', async () => {
  const text = card('FN:Bob', `NOTE:${'word '.repeat(30_000)}end`)
  expect((await blocksOf('a.vcf', text)).at(-1)).toMatch(/ end$/)
})

test('an export of a directory is a section for each entry, with values in Base64', async () => {
  const name = Buffer.from('Jörg Müller').toString('base64')
  const text = `version: 1\n\ndn: cn=jm,dc=example\ncn:: ${name}\nmail: jm@exam\n ple.com\ntelephoneNumber: 0171\n\ndn: ou=people,dc=example\nou: people\n`
  expect(await blocksOf('people.ldif', text)).toEqual([
    '# Jörg Müller',
    'dn: cn=jm,dc=example\ncn: Jörg Müller\nmail: jm@example.com\ntelephoneNumber: 0171',
    '# people',
    'dn: ou=people,dc=example\nou: people',
  ])
})

type Text = readonly [key: string, content: string]

/** Like the manual pages of Unix, whose text seldom contains the name of the program. */
export const manualPages: readonly Text[] = [
  [
    'man/curl.txt',
    `-L, --location

(HTTP) If the server reports that the requested page has moved to a different location (indicated with a Location: header and a 3XX response code), this option makes it redo the request on the new place. To follow the redirect for POST, see --post301. Limit the number of hops with --max-redirs.

-T, --upload-file <file>

This transfers the specified local file to the remote URL. If there is no file part in the specified URL, the local file name is appended. Use "-" to read from standard input.

-u, --user <user:password>

Specify the user name and password to use for server authentication. Overrides netrc.`,
  ],
  [
    'man/mount.txt',
    `nosymfollow

Do not follow symlinks when resolving paths. Symlinks can still be created, and readlink and realpath still work properly. Follow redirects of automounts to other places unless this is set.

noexec

Do not permit direct execution of any binaries on the mounted filesystem.

remount

Attempt to remount an already-mounted filesystem. Commonly used to change the flags, especially to make a read-only filesystem writable.`,
  ],
  [
    'man/rsync.txt',
    `--exclude=PATTERN

This option is used to exclude files matching the PATTERN from the transfer. Several may be given.

--delete

This tells the receiving side to remove extraneous files that the sending side does not have.`,
  ],
  [
    'man/tar.txt',
    `--exclude=PATTERN

Exclude files matching PATTERN, a glob style wildcard pattern, from the archive.

-x, --extract

Extract files from an archive. Arguments are optional.`,
  ],
  [
    'man/ls.txt',
    `--color[=WHEN]

colorize the output of the listing; WHEN can be always, auto or never. The LS_COLORS variable says how.

-S

sort by file size, largest first`,
  ],
  ['plans/pumpWiring_v2.txt', 'Terminal 1 takes the brown lead, terminal 2 the blue one.'],
  [
    'guides/backup.txt',
    'Backups are organized by date. The list of all of them is in the catalogue on the first tape.',
  ],
  ['guides/display.txt', 'The dark style has white text on grey.'],
  ['guides/expenses.txt', 'When traveling for the company, keep all receipts of what you pay.'],
  ['guides/themes-uk.txt', 'Choose a colour scheme for the whole office.'],
  ['guides/themes-us.txt', 'Choose a color scheme for the whole office.'],
]

export const licences: readonly Text[] = [
  [
    'licenses/Apache-2.0.txt',
    `TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION

Each Contributor hereby grants to You a perpetual, worldwide, non-exclusive, royalty-free copyright license to reproduce and distribute the Work.

Each Contributor hereby grants to You a perpetual patent license to make, use and sell the Work.`,
  ],
  [
    'licenses/MPL-2.0.txt',
    `"Secondary License" means either the GNU General Public License, Version 2.0, or any later versions of those licenses.

This Source Code Form is subject to the terms of this License. If a copy of the license was not distributed with this file, you can obtain one. A larger work may be under other terms, if it meets those of this license.`,
  ],
  [
    'licenses/MIT.txt',
    'Permission is hereby granted, free of charge, to any person obtaining a copy.',
  ],
]

export const germanManuals: readonly Text[] = [
  [
    'Betriebsanleitung.Presse.md',
    `# Hydraulikpresse

## Ölwechsel

Das Hydrauliköl ist alle 2000 Betriebsstunden zu wechseln. Altes Öl wird dem Händler zurückgegeben.

## Öl nachfüllen

Das Öl muss kalt sein, bevor Öl nachgefüllt wird. Nur zugelassenes Öl verwenden, sonst wird die Dichtung beschädigt.

## Filter

Der Filter wird einmal im Jahr gewechselt. Er sitzt hinter der Klappe und muss trocken sein.

## Räder

Die Räder werden gewechselt, wenn das Profil weniger als drei Millimeter hat.

## Ausschalten

Zum Abschalten der Anlage wird der rote Schalter gedrückt. Danach läuft der Lüfter nach.

## Schutz

Die Presse schaltet sich bei Übertemperatur ab. Nach einer Stunde ist sie wieder bereit.

## Pflege

Reinigen Sie das Pumpengehäuse mit einem feuchten Tuch, nicht mit Lösungsmitteln.

## Technische Daten

Der Druck im Betrieb beträgt höchstens 250 bar, die Temperatur 60 Grad.

## Leitungen

Alle Schläuche sind vor jeder Schicht auf Risse zu prüfen und nach sechs Jahren auszutauschen.

## Anstrich

Die Oberfläche bleibt schön, wenn sie nicht in der Sonne steht.

## Lieferung

Die Presse ist schon geprüft. Sie steht schon auf der Palette, und schon nach einer Stunde ist sie aufgebaut.

## Transport

Im Straßenverkehr ist die Presse mit vier Gurten zu sichern, damit sie nicht kippt.

## Automatik

Die Automatik stellt den Automaten nach jedem Hub in die Grundstellung.`,
  ],
  [
    'Garantie.md',
    `# Garantie

Die Garantie gilt zwei Jahre. Sie gilt nicht, wenn eine andere Werkstatt die Maschine geöffnet hat.

## Wechsel des Besitzers

Wird die Maschine verkauft, so geht die Garantie auf den neuen Besitzer über.`,
  ],
]

/** Part numbers with separators and without, and numbers with digits of two scripts. */
export const partNumbers: readonly Text[] = [
  ['parts/toner.txt', 'Toner, part 4711-AB/3, is in the cupboard next to the kitchen.'],
  ['parts/contract.txt', 'Paper comes from the north, contract 88-120-4.'],
  ['parts/seal.txt', 'The seal 9050KX7 is greased before it is fitted.'],
  ['parts/filter.txt', 'Order the filter by 773102.'],
  ['parts/valve.txt', 'رقم الصمام ٠١٢٣ في المخزن.'],
  ['parts/pump.txt', 'The spare pump has the number 4567.'],
  ['parts/gear.txt', 'The gear XK9.2.4 fits both machines.'],
  ['parts/drill.txt', 'The cordless drill is battery-driven.'],
  ['parts/saw.txt', 'A handsaw needs no current, the motordriven one does.'],
  ['parts/account.txt', 'Pay to CH93 0076 2011 6238 5295 7 at the bank.'],
  ['parts/branch.txt', 'The branch has the account DE89370400440532013000.'],
  ['parts/desk.txt', 'Call the desk at +41 44 668 18 00 before noon.'],
  ['parts/night.txt', 'At night the number is 031/555.72.10.'],
  ['parts/berlin.txt', 'Berlin is reached at +49 44 668 18 00.'],
]

import type { WorkspaceActor } from '../../../domain/actor.js'
import { fieldError } from '../../../domain/refusals.js'
import type { Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { IntegrationPatch } from './changes.js'
import { readDefinition } from './definition.js'
import type { IntegrationLogs } from './logs.js'
import type { IntegrationRow } from './store.js'

/** Compiles scripts of integrations. */
interface ScriptCompiler {
  /** @returns why a script of a workspace does not compile; undefined if it does */
  compile(script: string, workspaceId: string): Promise<ScriptFault | undefined>
}

interface ScriptFault {
  reason: string
  /** From 1. */
  place: { line: number; column: number } | undefined
}

/** The members of a definition that contain scripts. */
type Scripted = Pick<IntegrationPatch, 'identifier' | 'configuration' | 'configurations'>

export interface ScriptChecksDeps {
  scripts: ScriptCompiler
  logs: Pick<IntegrationLogs, 'writeLine'>
}

/** Makes the rules about the scripts that integrations declare. */
export function createScriptChecks({ scripts, logs }: ScriptChecksDeps) {
  return {
    /**
     * Throws for a new script that does not compile. In development it returns what is wrong instead: tools send the names
     * of files in place of scripts there.
     * @param current the integration before the change, whose scripts are not compiled again
     */
    async check(
      { workspaceId }: WorkspaceActor,
      patch: Scripted & { dev?: boolean },
      current?: Pick<IntegrationRow, 'dev' | 'definition'>,
    ): Promise<string[]> {
      const isDev = current === undefined ? patch.dev === true : current.dev === 1
      const known = new Map(current && scriptsIn(readDefinition(current.definition)))
      const faults: string[] = []
      for (const [field, script] of scriptsIn(patch)) {
        if (known.get(field) === script) continue
        const fault = await scripts.compile(script, workspaceId)
        if (fault === undefined) continue
        if (!isDev) throw fieldError(`body.${field}`, describe(fault))
        faults.push(`${field} ${isFileName(script) ? fileName(script) : describe(fault)}`)
      }
      return faults
    },

    /** Tells the developer of an integration, once it is stored, which of its scripts do not compile. */
    report(tx: Tx, integrationId: string, faults: readonly string[]): void {
      afterCommit(tx, () => {
        for (const message of faults) {
          logs.writeLine({ integrationId, botId: '', level: 'warn', message })
        }
      })
    },
  }
}

/** The scripts that the server runs, or shows how to run, with the path of the field of each. */
function* scriptsIn(scripted: Scripted): Iterable<[field: string, script: string]> {
  const { identifier, configuration, configurations } = scripted
  for (const name of ['extractScript', 'fallbackHandlerScript'] as const) {
    const script = identifier?.[name]
    if (script) yield [`identifier.${name}`, script]
  }
  const all: [string, Scripted['configuration'] | null][] = [
    ['configuration', configuration],
    ...Object.entries(configurations ?? {}).map(([name, each]): [string, typeof each] => [
      `configurations.${name}`,
      each,
    ]),
  ]
  for (const [path, each] of all) {
    const script = each?.identifier?.linkTemplateScript
    if (script) yield [`${path}.identifier.linkTemplateScript`, script]
  }
}

function describe({ place, reason }: ScriptFault): string {
  const where = place === undefined ? '' : `line ${place.line}, column ${place.column}: `
  return `does not compile: ${where}${reason}`
}

function isFileName(script: string): boolean {
  return /^[\w./ -]+\.vrl$/.test(script)
}

function fileName(script: string): string {
  return `is the name of a file, ${script}, in place of the script in it, as bp dev sends it: it cannot be run`
}

import { Link } from '@tanstack/react-router'
import { ArrowLeft, Play } from 'lucide-react'
import { useState } from 'react'
import { useAddressSearch, usePathTo } from '../../../api/address.js'
import { useMay } from '../../../api/role.js'
import { Button } from '../../../ui/button.js'
import { Dialog } from '../../../ui/dialog.js'
import { Name } from '../../../ui/name.js'
import { useShortcuts } from '../../../ui/shortcuts.js'
import { Unread } from '../../../ui/states.js'
import { Tabs } from '../../../ui/tabs.js'
import { Cases } from './cases.js'
import styles from './evaluation.module.css'
import { useSet } from './queries.js'
import { Runs } from './runs.js'
import { SetSettings } from './set-settings.js'
import { StartRun } from './start-run.js'

const parts = [
  { id: 'runs', label: 'Runs' },
  { id: 'cases', label: 'Cases' },
  { id: 'settings', label: 'Settings' },
]

/** An open evaluation set: its runs over time, its cases, and the actions for the whole set. */
export function SetPage({ id }: { id: string }) {
  const pathTo = usePathTo()
  const [{ part = 'runs' }, change] = useAddressSearch()
  const { data, error, refetch } = useSet(id)
  const [isStarting, setStarting] = useState(false)
  const set = data?.evaluationSet
  const mayRun = useMay()('files:write')
  const isEmpty = set === undefined || set.cases === 0
  useShortcuts(mayRun ? { r: { label: 'Run the cases', run: () => setStarting(!isEmpty) } } : {})
  return (
    <article className={styles.page}>
      <header className={styles.bar}>
        <Link
          to={pathTo('search')}
          search={{ tab: 'sets' }}
          aria-label="Back to the sets"
          className={styles.back ?? ''}
        >
          <ArrowLeft size={16} aria-hidden="true" />
        </Link>
        <h2>
          <Name>{set?.name ?? id}</Name>
        </h2>
        {mayRun && (
          <Button
            kind="primary"
            icon={<Play size={14} />}
            disabled={isEmpty}
            onClick={() => setStarting(true)}
          >
            Run the cases
          </Button>
        )}
      </header>
      <Tabs tabs={parts} current={part} param="part" name="Parts of the set" />
      {set === undefined ? (
        <Unread error={error} refetch={refetch} />
      ) : part === 'cases' ? (
        <Cases set={set} />
      ) : part === 'settings' ? (
        <SetSettings set={set} />
      ) : (
        <Runs set={set} />
      )}
      {isStarting && set !== undefined && (
        <Dialog title={`Run the cases of ${set.name}`} onClose={() => setStarting(false)}>
          <StartRun
            setId={id}
            onDone={(runId) => {
              setStarting(false)
              change({ part: undefined, run: runId, against: undefined, only: undefined })
            }}
          />
        </Dialog>
      )}
    </article>
  )
}

import { useScope } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { Page } from '../../ui/page.js'
import { useRemembered } from '../../ui/remembered.js'
import { Unread } from '../../ui/states.js'
import { BotsHealth } from './bots-health.js'
import { FirstSteps } from './first-steps.js'
import { Headline, Quotas } from './headline.js'
import styles from './home.module.css'
import { type Overview, useOverview, useQuotaUsages } from './queries.js'
import { RecentErrors } from './recent-errors.js'
import { Waiting } from './waiting.js'

/** Whether everything is all right, or the worst thing first. */
export function HomeScreen() {
  const { overview, error, refetch } = useOverview()
  return (
    <Page title="Home">
      <div className={styles.scroller}>
        {overview !== undefined ? (
          <Content overview={overview} />
        ) : (
          <Unread error={error} refetch={refetch} />
        )}
      </div>
    </Page>
  )
}

function Content({ overview }: { overview: Overview }) {
  const { botId } = useScope()
  const usages = useQuotaUsages()
  const [isHidden, setHidden] = useRemembered('first steps are hidden', false)
  if (overview.status === 'empty') {
    return (
      <div className={styles.content}>
        <p>This server is ready, and empty. In five steps, a bot of yours answers from a file.</p>
        <FirstSteps overview={overview} />
      </div>
    )
  }
  const { files, conversations } = overview.counts
  const isNew = files === 0 || conversations === 0
  return (
    <div className={styles.content}>
      <Headline overview={overview} usages={usages} />
      <Quotas usages={usages} />
      {botId === undefined && <Waiting overview={overview} />}
      <BotsHealth bots={overview.bots} all={botId === undefined ? overview.counts.bots : 1} />
      <RecentErrors errors={overview.errors} />
      {isNew && !isHidden && (
        <>
          <FirstSteps overview={overview} />
          <Button className={styles.hide} onClick={() => setHidden(true)}>
            Hide the first steps
          </Button>
        </>
      )}
    </div>
  )
}

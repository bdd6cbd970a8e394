import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleDashed } from 'lucide-react'
import type { ReactNode } from 'react'
import { usePathTo } from '../../api/address.js'
import { botstead, npm } from '../../ui/commands.js'
import { CopyButton } from '../../ui/copy.js'
import styles from './home.module.css'
import type { Overview } from './queries.js'

/** The first steps with a new server, with marks on those that are done. */
export function FirstSteps({ overview }: { overview: Overview }) {
  const pathTo = usePathTo()
  const { bots, counts } = overview
  const bot = bots[0]
  const hasAddress = bots.some(({ reasons }) => reasons.every(({ kind }) => kind !== 'no_address'))
  return (
    <section className={styles.part} aria-label="First steps">
      <h2>First steps</h2>
      <ol className={styles.steps}>
        <Step
          isDone={counts.bots > 0}
          title="Create a bot"
          command={botstead(['bots', 'create', 'First'])}
          link={
            <Link to={pathTo('bots')} search={{ new: 'bot' }}>
              Create a bot here
            </Link>
          }
        >
          A bot has conversations and files of its own.
        </Step>
        <Step
          isDone={counts.files > 0}
          title="Give it a file"
          command={botstead(['files', 'put', 'manual.pdf', '--index'], bot?.id)}
          link={<Link to={pathTo('files')}>Upload a file here</Link>}
        >
          PDF, Office, Markdown, HTML and more; it is indexed for the search.
        </Step>
        <Step
          isDone={false}
          title="Ask it something"
          command={botstead(['search', 'How do I begin?'], bot?.id)}
          link={<Link to={pathTo('search')}>Search here</Link>}
        >
          The search finds the passages of the files that answer a question.
        </Step>
        <Step
          isDone={counts.bots > 0 && hasAddress}
          title="Connect a program"
          command={npm(['run', 'hello-bot'])}
          link={
            <Link to={pathTo('bots', ...(bot ? [bot.id] : []))} search={{ tab: 'settings' }}>
              Set its address here
            </Link>
          }
        >
          A bot answers through a program of yours, which the server calls at the address of the
          bot. This one comes with the source; the guide “Bots” explains how to write your own.
        </Step>
        <Step
          isDone={counts.conversations > 0}
          title="Write to it"
          command={botstead(['chat'], bot?.id)}
          link={<Link to={pathTo('try')}>Try it here</Link>}
        >
          As a user would, and see what the bot received and answered.
        </Step>
      </ol>
    </section>
  )
}

interface StepProps {
  isDone: boolean
  title: string
  command: string
  link: ReactNode
  children: ReactNode
}

function Step({ isDone, title, command, link, children }: StepProps) {
  return (
    <li className={styles.step}>
      {isDone ? (
        <CircleCheck size={16} className={styles.done} aria-label="Done" />
      ) : (
        <CircleDashed size={16} className={styles.open} aria-label="To do" />
      )}
      <div className={styles.stepText}>
        <strong>{title}</strong>
        <div className="muted">{children}</div>
        {!isDone && (
          <div className={styles.call}>
            <code>{command}</code>
            <CopyButton text={command} what={`the command: ${title}`} />
            {link}
          </div>
        )}
      </div>
    </li>
  )
}

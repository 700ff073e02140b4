// PhaseRunner evaluates the project when a session becomes idle. Installed by: phaserunner hook opencode --install.
// `phaserunner hook opencode --uninstall` removes it.
import { spawn } from "node:child_process"

const COMMAND = @COMMAND@
const PLACE = @PLACE@
const EVENTS = { "session.created": "SessionStart", "session.idle": "Stop", "session.deleted": "SessionEnd" }

function ask(event) {
  return new Promise((resolve) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { cwd: PLACE, stdio: ["pipe", "pipe", "ignore"] })
    let text = ""
    child.stdout.on("data", (part) => (text += part))
    const warn = (message) => resolve({ systemMessage: `PhaseRunner ${message}` })
    child.on("error", (error) => warn(`cannot be started: ${error.message}`))
    child.on("close", (code) => {
      try {
        if (text.trim()) resolve(JSON.parse(text))
        else if (code) warn(`reached no verdict: it ended with ${code}`)
        else resolve({})
      } catch {
        warn("gave no readable answer")
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

export const PhaseRunner = async ({ client, directory }) => ({
  event: async ({ event }) => {
    const name = EVENTS[event.type]
    const id = event.properties?.sessionID ?? event.properties?.info?.id
    if (!name || !id) return
    if (name === "Stop") {
      // A subagent's session is part of its parent's work.
      const session = await client.session.get({ path: { id } }).catch(() => undefined)
      if (session?.data?.parentID) return
    }
    const answer = await ask({ hook_event_name: name, session_id: id, cwd: directory })
    if (answer.decision === "block") {
      const parts = [{ type: "text", text: answer.reason }]
      await client.session.prompt({ path: { id }, body: { parts } })
    } else if (answer.systemMessage) {
      const body = { message: answer.systemMessage, variant: "warning" }
      await client.tui.showToast({ body }).catch(() => undefined)
    }
  },
})

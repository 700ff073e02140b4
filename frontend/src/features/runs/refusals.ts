/** Says common refusals of a form in the words of the form. Pure. */

interface Rule {
  /** The names of fields that it is about. */
  readonly field: RegExp;
  readonly message: RegExp;
  readonly says: string;
}

/** The first that fits. */
const RULES: readonly Rule[] = [
  { field: /^goal$/, message: /at least 1 character|required/i, says: "Say what to achieve." },
  { field: /^query$/, message: /at least 1 character|required/i, says: "Enter a question." },
  {
    field: /^source\.path$/,
    message: /at least 1 character|required/i,
    says: "Enter the path of a repository, or choose “No files”.",
  },
  { field: /^source\.path$/, message: /not an absolute path/i, says: "Enter the whole path, from / on." },
  {
    field: /^source\.url$/,
    message: /at least 1 character|required/i,
    says: "Enter the address of a Git repository.",
  },
  { field: /^source(\.data)?$/, message: /data is required/i, says: "Choose an archive to upload." },
  { field: /^phases$/, message: /at least 1 item/i, says: "Choose at least one phase." },
  { field: /\.model$/, message: /provider:model/i, says: "Write provider:model, such as openai:gpt-4o." },
  { field: /./, message: /valid integer/i, says: "Enter a whole number." },
  { field: /./, message: /valid number/i, says: "Enter a number." },
];

/** The form's own sentence; where it has none, what the service says. */
export function inOwnWords(field: string, message: string): string {
  if (!message) return "";
  return RULES.find((each) => each.field.test(field) && each.message.test(message))?.says ?? message;
}

//! `lacuna completions` and `lacuna man`: what a shell and `man` want to know about the commands.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Print completions for a shell
///
/// A build with `--no-default-features` has none, unless it names the feature `terminal`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lacuna completions bash > ~/.local/share/bash-completion/completions/lacuna"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write those of all commands
///
/// A build with `--no-default-features` has none, unless it names the feature `terminal`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  lacuna man | man -l -\n  lacuna man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write lacuna.1, lacuna-build.1 and so on into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Shells with completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

#[cfg(not(feature = "terminal"))]
pub(super) fn completions(args: &CompletionsArgs) -> crate::errors::Result<()> {
    let _ = args.shell;
    Err(crate::features::TERMINAL.is_missing())
}

#[cfg(not(feature = "terminal"))]
pub(super) fn man(args: &ManArgs) -> crate::errors::Result<()> {
    let _ = &args.out;
    Err(crate::features::TERMINAL.is_missing())
}

#[cfg(feature = "terminal")]
pub(super) use with_feature::{completions, man};

#[cfg(feature = "terminal")]
mod with_feature {
    use std::path::Path;
    use std::{fs, io};

    use clap::CommandFactory as _;
    use clap_mangen::Man;
    use lacuna_base::Error;

    use super::{CompletionsArgs, ManArgs, Shell};
    use crate::commands::Cli;
    use crate::errors::{Failure, Result};
    use crate::output::Output;

    pub(in crate::commands) fn completions(args: &CompletionsArgs) -> Result<()> {
        let shell = match args.shell {
            Shell::Bash => clap_complete::Shell::Bash,
            Shell::Elvish => clap_complete::Shell::Elvish,
            Shell::Fish => clap_complete::Shell::Fish,
            Shell::Powershell => clap_complete::Shell::PowerShell,
            Shell::Zsh => clap_complete::Shell::Zsh,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "lacuna", &mut script);
        print(&script)
    }

    pub(in crate::commands) fn man(args: &ManArgs) -> Result<()> {
        match &args.out {
            None => print(rendered(&Man::new(Cli::command())).map_err(Failure::from_output)?.as_bytes()),
            Some(folder) => write_pages(folder),
        }
    }

    fn write_pages(folder: &Path) -> Result<()> {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        let written = fs::create_dir_all(folder).and_then(|()| write_page(&command, folder));
        written.map_err(|error| {
            let message = format!("the pages cannot be written into {}: {error}", folder.display());
            Error::invalid_input(message).with_source(error).into()
        })
    }

    /// The pages of the commands below this one, and its own.
    fn write_page(command: &clap::Command, folder: &Path) -> io::Result<()> {
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            write_page(below, folder)?;
        }
        let page = Man::new(command.clone());
        fs::write(folder.join(page.get_filename()), rendered(&page)?)
    }

    fn rendered(page: &Man) -> io::Result<String> {
        let mut bytes: Vec<u8> = Vec::new();
        page.render(&mut bytes)?;
        Ok(with_lines_of_examples(&String::from_utf8_lossy(&bytes)))
    }

    /// The page in roff with the lines of the text after the help as they are: else `man` fills them, and cuts words of commands in two.
    fn with_lines_of_examples(page: &str) -> String {
        let mut kept = String::with_capacity(page.len() + 16);
        let mut is_after_help = false;
        for line in page.lines() {
            let is_heading = line.starts_with(".SH ");
            if is_heading && is_after_help {
                kept.push_str(".fi\n");
            }
            kept.push_str(line);
            kept.push('\n');
            if is_heading {
                is_after_help = line == ".SH EXTRA";
            }
            if is_heading && is_after_help {
                kept.push_str(".nf\n");
            }
        }
        if is_after_help {
            kept.push_str(".fi\n");
        }
        kept
    }

    fn print(bytes: &[u8]) -> Result<()> {
        let mut out = Output::new();
        out.bytes(bytes)?;
        out.finish()
    }
}

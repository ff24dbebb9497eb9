"""Runs the notebook as its readers do, in a kernel of Jupyter: notebook_runner.py --store PICTURE

Keeps what it prints in the notebook, and its picture as PICTURE. Other outputs are not kept: a picture in a notebook is bytes
that no review reads. Text is short, and a test holds it against what the notebook prints.
"""

import argparse
import os
import pathlib

import nbformat
from nbclient import NotebookClient

NOTEBOOK = pathlib.Path(__file__).resolve().parents[1] / "examples" / "choosing_a_filter.ipynb"


def executed(folder, picture):
    """The notebook after all of its cells ran in folder with keys that it makes; its figure is in the file picture."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    os.environ.pop("LACUNA_DATA", None)
    os.environ["LACUNA_PICTURE"] = str(picture)
    place = {"metadata": {"path": str(folder)}}
    # A kernel may take long to start on a machine that is busy.
    NotebookClient(notebook, timeout=300, startup_timeout=300, kernel_name="python3", resources=place).execute()
    return notebook


def printed(notebook):
    """The text that each cell printed."""
    outputs = ([output for output in cell.get("outputs", []) if output.output_type == "stream"] for cell in notebook.cells)
    return ["".join(output.text for output in cell) for cell in outputs]


def store(notebook):
    """Keeps text alone, without when and how often the cells ran."""
    for cell in notebook.cells:
        cell.metadata.clear()
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.output_type == "stream"]
            cell.execution_count = None
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    nbformat.write(notebook, NOTEBOOK)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", type=pathlib.Path, metavar="PICTURE", required=True)
    picture = parser.parse_args().store.resolve()
    store(executed(picture.parent, picture))


if __name__ == "__main__":
    main()
